# SPDX-License-Identifier: Apache-2.0
"""Compares what gcovr says is not reached with tests/coverage.txt: coverage.py JSON ROOT [--write]

The list has one line a line of code, "FILE: CODE", under "== REASON". A line of code is reached where it ran,
and each of its branches was taken. --write: keeps the reasons, drops what is reached now, and puts the rest
under "== ?", for somebody to give a reason or write a test.
"""
import collections
import json
import os
import sys

report, root = sys.argv[1:3]
path = os.path.join(root, "tests", "coverage.txt")

lines = branches = lines_hit = branches_hit = 0
unreached = collections.Counter()
where = {}
for file in json.load(open(report, encoding="utf-8"))["files"]:
    with open(os.path.join(root, file["file"]), encoding="utf-8") as source:
        code = source.read().split("\n")
    for line in file["lines"]:
        if line.get("gcovr/noncode"):
            continue
        taken = [branch["count"] > 0 for branch in line["branches"]]
        lines, lines_hit = lines + 1, lines_hit + (line["count"] > 0)
        branches, branches_hit = branches + len(taken), branches_hit + sum(taken)
        if line["count"] == 0 or not all(taken):
            entry = f"{file['file']}: {code[line['line_number'] - 1].strip()}"
            unreached[entry] += 1
            where[entry] = f"{file['file']}:{line['line_number']}"

listed, reasons, reason = collections.Counter(), {}, None
if os.path.exists(path):
    with open(path, encoding="utf-8") as known:
        for line in known.read().split("\n"):
            if line.startswith("== "):
                reason = line[3:]
            elif line and not line.startswith("#"):
                listed[line] += 1
                reasons[line] = reason

if sys.argv[3:] == ["--write"]:
    with open(path, encoding="utf-8") as known:
        head = [line for line in known.read().split("\n") if line.startswith("#")]
    groups = collections.defaultdict(list)
    for entry in sorted(unreached.elements()):
        groups[reasons.get(entry, "?")].append(entry)
    with open(path, "w", encoding="utf-8") as known:
        known.write("\n".join(head) + "\n")
        for reason, entries in sorted(groups.items()):
            known.write(f"\n== {reason}\n" + "".join(entry + "\n" for entry in entries))
    sys.exit()

for entry in sorted((unreached - listed).elements()):
    print(f"not reached: {where[entry]}: {entry.split(': ', 1)[1]}")
for entry in sorted((listed - unreached).elements()):
    print(f"in tests/coverage.txt, but reached, or not there: {entry}")
print(f"lines {lines_hit} of {lines}, branches {branches_hit} of {branches}; "
      f"{sum(unreached.values())} lines of code not reached in full, {sum(listed.values())} of them listed")
sys.exit(1 if unreached != listed or "?" in reasons.values() else 0)
