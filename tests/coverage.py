# SPDX-License-Identifier: Apache-2.0
"""Compares what gcov says is not reached of lib/ with tests/coverage.txt: coverage.py BUILD...

A line of code is reached where it has run, and each of its branches was taken, in every function that it is part of
(a macro may make several of one line). Of lib/ranks and lib/mpi the lines alone count; of lib/cpu/simd/ too, in any
function and instruction set: its functions are made for each type and operator, and their branches are the compiler's.
Of lib/cuda, lib/ranks and lib/mpi nothing is expected where BUILD has none of it. The list has one line for each line of code,
"FILE:FUNCTION: CODE", under "== REASON"; under a reason that begins with "varies" it may be reached or not. Exits with
1 where something else is not reached, or something on the list is, or is no longer there.
"""
import collections
import glob
import json
import os
import subprocess
import sys

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
vector_code = "lib/cpu/simd/"
left_out = "lib/ranks/gpu.c" # tests/mpi/stand_in.c takes its place

# Code of an instruction set that this processor lacks cannot run.
sets = {"avx2": "avx2", "avx512": "avx512vl"}
with open("/proc/cpuinfo", encoding="utf-8") as told:
    processor = set(told.read().split())

# By file, line, function and form: how often it ran, and how often each of its branches was taken.
counts = {}
for build in sys.argv[1:]:
    for note in glob.iglob(os.path.join(build, "**", "*.gcno"), recursive=True):
        if any(f"_{name}.c" in note and flag not in processor for name, flag in sets.items()):
            continue
        told = subprocess.run(["gcov", "--json-format", "--branch-probabilities", "--stdout", note],
                              check=True, capture_output=True, text=True).stdout
        for file in (file for document in told.splitlines() for file in json.loads(document)["files"]):
            name = os.path.relpath(os.path.join(root, file["file"]), root)
            if not name.startswith("lib/") or name == left_out:
                continue
            for line in file["lines"]:
                function, here = line.get("function_name", ""), [line["count"]]
                if name.startswith(vector_code):
                    function = ""
                elif not name.startswith(("lib/ranks/", "lib/mpi/")):
                    here += [branch["count"] for branch in line["branches"]]
                # an inline function may have fewer branches where its arguments are constants
                key = name, line["line_number"], function, len(here)
                before = counts.get(key, [0] * len(here))
                counts[key] = [a + b for a, b in zip(before, here)]

sources = {}
for name in {name for name, *_ in counts}:
    with open(os.path.join(root, name), encoding="utf-8") as source:
        sources[name] = [line.strip() for line in source]

by_function, entries = collections.defaultdict(list), set()
for (name, number, function, _), count in sorted(counts.items()):
    by_function[name, number, function].append(count)
missed, where = collections.Counter(), {}
lines, branches = collections.defaultdict(list), []
for (name, number, function), all_counts in by_function.items():
    ran = all(count[0] > 0 for count in all_counts)
    taken = [part > 0 for count in all_counts for part in count[1:]]
    lines[name, number].append(ran)
    branches += taken
    entry = f"{name}:{function}: {sources[name][number - 1]}"
    entries.add(entry)
    if not ran or not all(taken):
        missed[entry] += 1
        where[entry] = number

parts = ("lib/cuda/", "backend.c"), ("lib/ranks/", "handle.c"), ("lib/mpi/", "running.c")
optional = [part for part, file in parts if part + file not in sources]
listed, varies, wrong = collections.Counter(), set(), []
with open(os.path.join(root, "tests", "coverage.txt"), encoding="utf-8") as known:
    for entry in known.read().splitlines():
        if entry.startswith("== "):
            varying = entry.startswith("== varies: ")
        elif entry and not entry.startswith(("#", *optional)):
            if entry not in entries:
                wrong.append(f"in tests/coverage.txt, but not there: {entry}")
            elif varying:
                varies.add(entry)
            else:
                listed[entry] += 1
for entry in sorted((missed - listed).elements()):
    if entry not in varies:
        wrong.append(f"not reached: line {where[entry]}, {entry}")
wrong += [f"in tests/coverage.txt, but reached: {entry}" for entry in sorted((listed - missed).elements())]

print("\n".join(wrong))
print(f"lib/{''.join(' without ' + part for part in optional)}: {sum(map(all, lines.values()))} of {len(lines)} lines, "
      f"{sum(branches)} of {len(branches)} branches; {sum(missed.values())} lines of code not reached in full, "
      f"{len(wrong)} of them unexpected")
sys.exit(1 if wrong else 0)
