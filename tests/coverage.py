# SPDX-License-Identifier: Apache-2.0
"""Compares what gcov says is not reached of lib/ with tests/coverage.txt: coverage.py BUILD...

A line of code is reached where it has run, and each of its branches was taken, in every function that it is part of
(a macro may make several of one line). Of lib/cuda nothing is expected where BUILD has none of it. The list has one line a line of code, "FILE: CODE", under "== REASON"; under
a reason that begins with "varies" it may be reached or not. Exits with 1 where something else is not reached, or
something on the list is, or is no longer there.
"""
import collections
import glob
import json
import os
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
left_out = "lib/cpu/simd/"

# By file, line, function and form: how often it ran, and how often each of its branches was taken.
counts = {}
for build in sys.argv[1:]:
    for note in glob.iglob(os.path.join(build, "**", "*.gcno"), recursive=True):
        told = subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--stdout", note],
                              check=True, capture_output=True, text=True).stdout
        for file in (file for document in told.splitlines() for file in json.loads(document)["files"]):
            name = os.path.relpath(os.path.join(root, file["file"]), root)
            if not name.startswith("lib/") or name.startswith(left_out):
                continue
            for line in file["lines"]:
                here = [line["count"]] + [branch["count"] for branch in line["branches"]]
                # an inline function may have fewer branches where its arguments are constants
                key = name, line["line_number"], line.get("function_name"), len(here)
                before = counts.get(key, [0] * len(here))
                counts[key] = [a + b for a, b in zip(before, here)]

by_line = collections.defaultdict(list)
for (name, number, *_), count in counts.items():
    by_line[name, number].append(count)
sources = {}
for name in {name for name, _ in by_line}:
    with open(os.path.join(root, name), encoding="utf-8") as source:
        sources[name] = [line.strip() for line in source]

lines = branches = lines_reached = branches_reached = 0
missed, where = collections.Counter(), {}
for (name, number), functions in sorted(by_line.items()):
    ran = all(function[0] > 0 for function in functions)
    taken = [count > 0 for function in functions for count in function[1:]]
    lines, lines_reached = lines + 1, lines_reached + ran
    branches, branches_reached = branches + len(taken), branches_reached + sum(taken)
    if not ran or not all(taken):
        entry = f"{name}: {sources[name][number - 1]}"
        missed[entry] += 1
        where[entry] = number

listed, varies, wrong = collections.Counter(), set(), []
with open(os.path.join(root, "tests", "coverage.txt"), encoding="utf-8") as known:
    for entry in known.read().splitlines():
        name, _, code = entry.partition(": ")
        if entry.startswith("== "):
            reason = code if (varying := name == "== varies") else entry
        elif entry and not entry.startswith("#") and (name in sources or "lib/cuda/" not in name):
            if code not in sources.get(name, []):
                wrong.append(f"in tests/coverage.txt, but not there: {entry}")
            elif varying:
                varies.add(entry)
            else:
                listed[entry] += 1
for entry in sorted((missed - listed).elements()):
    if entry not in varies:
        wrong.append(f"not reached: {entry.replace(':', f':{where[entry]}:', 1)}")
wrong += [f"in tests/coverage.txt, but reached: {entry}" for entry in sorted((listed - missed).elements())]

print("\n".join(wrong))
print(f"lib/{'' if 'lib/cuda/backend.c' in sources else ' without lib/cuda'}: {lines_reached} of {lines} lines, "
      f"{branches_reached} of {branches} branches; {sum(missed.values())} lines of code not reached in full, "
      f"{len(wrong)} of them unexpected")
sys.exit(1 if wrong else 0)
