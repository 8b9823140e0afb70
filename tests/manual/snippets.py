# SPDX-License-Identifier: Apache-2.0
"""Makes C of the examples in cmake/manual/*.md: snippets.py FILE.c KIND FILE.md...

A program between lines ```KIND and ``` becomes a function. KIND is c: every call must succeed, and what a comment of the
form /* NAME is NUMBERS */ says of a vector or an array must be so when the calls before it are done. Or it is mpi: those
are compiled, but not run.
"""
import os
import re
import sys

made, kind, *pages = sys.argv[1:]
lines, calls = ['#include "snippets.h"\n'], []
for path in pages:
    with open(path, encoding="utf-8") as file:
        source = file.read()
    page = os.path.basename(path)[:-3]
    for k, match in enumerate(re.finditer(rf"^```{kind}\n(.*?)^```$", source, re.S | re.M), 1):
        line = source.count("\n", 0, match.start()) + 2
        body, said = re.subn(r"/\* (\w+) is ([-0-9. a-z]+) \*/", r'EXPECT(\1, "\2");', match[1])
        body = re.sub(r"^(\s*)(vscan_\w+\()", r"\1*snippet_status() = \2", body, flags=re.M)
        if kind == "c":
            assert said or "/* wrong */" in body, f"{path}:{line}: an example that says nothing of its results"
            calls.append(f"{page}_{k}")
        lines.append(f"void {page}_{k}(void);\nvoid {page}_{k}(void) {{\n#line {line} \"{page}.md\"\n{body}}}\n")
if kind == "c":
    lines += ["const struct snippet snippets[] = {", *(f'    {{"{name}", {name}}},' for name in calls), "    {0, 0}};"]
with open(made, "w", encoding="utf-8") as file:
    file.write("\n".join(lines) + "\n")
