# SPDX-License-Identifier: Apache-2.0
"""Mutants of lib/, and the tests that they fail: see mutants.sh."""
import glob
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = os.path.abspath(sys.argv[1])
count, seed, begin = (int(text) for text in (sys.argv[2:] + ["1", "0"][len(sys.argv) - 3:]))
work = tempfile.TemporaryDirectory()
LIMIT = 200  # seconds, for a test that takes a few; a quarter of them of a processor
# What takes long comes last, or only for a file of its name.
LAST = ["map", "split", "pack", "threads", "handles", "pool", "host", "faults"]
SELDOM = ["golden", "same_bits", "monotone", "stack", "epochs", "protocol", "long_scans", "matrix"]
# Tests for a file beside those whose names are like its own.
LIKELY = {"parallel": "pool pool_forks threads", "threads": "pool threads", "move": "permute split", "flags": "pack permute",
          "heads": "segment_forms", "bounds": "keys", "chunks": "map", "memory": "buffer", "check": "arguments enums",
          "levels": "reduce", "status": "enums", "error": "late", "processors": "pool_pinned"}


# ---- Mutants -------------------------------------------------------------------------------------


def code_of(text):
    """The text with blanks for its comments, strings and characters."""
    token = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(token, lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.S)


def closing(code, at):
    """Where the parenthesis that opens there is closed in the line; -1: in another one."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] == "(") - (code[i] == ")")
        if depth == 0:
            return i
    return -1


SWAPS = [(r"(?<=[^<\-]) < (?!=)", " <= "), (r" <= ", " < "), (r"(?<=[^>\-]) > (?!=)", " >= "), (r" >= ", " > "),
         (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "), (r" [+-] 1\b", ""),
         (r" \+ (?!1\b)", " - "), (r" - (?!1\b)", " + "), (r"\+\+", "--"), (r" \+= ", " -= "), (r" \|= ", " = "),
         (r"(?<=[\w)]) \| ", " & "), (r"(?<=[\w)]) & ", " | "), (r"(?<![\w.])[1-9][0-9]*(?![\w.])", "0"),
         (r"(?<![\w.])0(?![\w.])", "1"), (r"\btrue\b", "false"), (r"\bfalse\b", "true")]


def mutations(line, code, starts):
    """The lines that this one may become; starts: it begins a statement."""
    for found in re.finditer(r"\b(?:if|while) \(", code):
        end = closing(code, found.end() - 1)
        if end > 0:
            yield line[:found.end()] + "!(" + line[found.end():end] + ")" + line[end:]
    for pattern, replacement in SWAPS:
        for found in re.finditer(pattern, code):
            yield line[:found.start()] + replacement + line[found.end():]
    indent = line[:len(line) - len(line.lstrip())]
    statement = code.strip()
    if starts and statement.endswith(";") and indent:
        if re.match(r"return [^;]*;$", statement) and not re.match(r"return (VSCAN_OK|0|false|NULL);", statement):
            yield indent + "return VSCAN_OK;"
        # a call, TRY(), or an assignment, but no declaration
        if re.match(r"[A-Za-z_][\w>.\-\[\]]*(\(.*\)| [+\-|&]?= .*|\+\+|--);$|\*\w+ = .*;$|(break|continue);$", statement):
            yield indent + ";"


def mutants_of(file):
    """(function, number of the line, line, mutated line) of a file."""
    with open(os.path.join(root, file), encoding="utf-8") as source:
        text = source.read()
    function, before, goes_on = "", ";", False
    for i, (line, code) in enumerate(zip(text.split("\n"), code_of(text).split("\n"))):
        is_directive = goes_on or code.startswith("#")
        goes_on = is_directive and code.endswith("\\")
        if is_directive or not code.strip():
            continue
        named = re.match(r"[A-Za-z_].*?\b(\w+)\(", re.sub(r"__attribute__\(\(\w+\)\) ", "", code))
        if named and not code.endswith(";"):
            function = named[1]
        if code.startswith((" ", "\t")) and "_Static_assert" not in code:
            starts = before.endswith((";", "{", "}", ":", ")", "else"))
            for mutated in dict.fromkeys(mutations(line, code, starts)):
                yield function, i, line, mutated
        before = code.rstrip()


# ---- Builds --------------------------------------------------------------------------------------

os.environ["CCACHE_DISABLE"] = "1"
with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as commands:
    compiled = {}  # by source: object and command
    for entry in json.load(commands):
        found = re.search(r" -o (\S+)", entry["command"])
        compiled.setdefault(os.path.relpath(entry["file"], root), []).append((found[1], entry["command"]))
library = os.path.relpath(os.path.realpath(os.path.join(build, "lib", "libvscan.so")), build)
links = {}


def link_of(target):
    if target not in links:
        told = subprocess.run(["ninja", "-t", "commands", target], cwd=build, check=True, capture_output=True, text=True)
        # ": && cc ... && what follows", where what follows may be a command of its own
        links[target] = [part for line in told.stdout.splitlines() for part in line.split(" && ")
                         if f" -o {target} " in part][-1]
    return links[target]


class Mutant:
    """A file of which one line is another, and what was made of it."""

    def __init__(self, file, mutant):
        self.file, (self.function, self.number, self.line, self.mutated) = file, mutant
        self.entry = f"{file}:{self.function}: {self.line.strip()} => {self.mutated.strip()}"
        self.folder = os.path.join(work.name, "mutant")
        self.objects = {}

    def compile(self, name, command, mutated=True):
        """The object as in the build; None where the compiler refuses the source."""
        made = os.path.join(self.folder, "objects" if mutated else "before", name)
        os.makedirs(os.path.dirname(made), exist_ok=True)
        source = os.path.join(self.folder, os.path.basename(self.file))
        with open(os.path.join(root, self.file), encoding="utf-8") as whole:
            lines = whole.read().split("\n")
        lines[self.number] = self.mutated if mutated else self.line
        with open(source, "w", encoding="utf-8") as copy:
            copy.write("\n".join(lines))
        command = re.sub(r" -Werror\b| -g\b", "", command)
        command = re.sub(r" -MD -MT \S+ -MF \S+", "", command).replace(f" -o {name}", f" -w -o {made}")
        folder = os.path.join(root, os.path.dirname(self.file))
        command = re.sub(r" -c \S+$", f" -iquote {folder} -c {source}", command)
        failed = subprocess.run(command, shell=True, cwd=build, capture_output=True).returncode
        return None if failed else made

    def make(self):
        """Compiles and links the library. Whether there is such a mutant."""
        subprocess.run(["rm", "-rf", self.folder], check=True)
        os.makedirs(os.path.join(self.folder, "lib"))
        name, command = next(pair for pair in compiled[self.file] if "/vscan" in pair[0])
        made = self.compile(name, command)
        if made is None or subprocess.run(["cmp", "-s", made, self.compile(name, command, False)]).returncode == 0:
            return False
        self.objects[name] = made
        if self.file.startswith(("lib/ranks/", "lib/mpi/")):
            return True
        return self.link(library, os.path.join("lib", "libvscan.so.1")) is not None

    def link(self, target, to):
        """What is linked like target with the mutant's objects; target itself where none of them is part of it."""
        command, is_part = link_of(target), False
        for name, line in compiled[self.file]:
            if re.search(rf" {re.escape(name)}(?= |$)", command):
                if name not in self.objects:
                    self.objects[name] = self.compile(name, line)
                command = command.replace(f" {name}", f" {self.objects[name]}")
                is_part = True
        if not is_part:
            return os.path.join(build, target)
        made = os.path.join(self.folder, to)
        os.makedirs(os.path.dirname(made), exist_ok=True)
        command = command.replace(f" -o {target}", f" -o {made}")
        return None if subprocess.run(command, shell=True, cwd=build, capture_output=True).returncode else made


# ---- Tests ---------------------------------------------------------------------------------------

told = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True, capture_output=True, text=True)
all_tests = {test["name"]: test for test in json.loads(told.stdout)["tests"] if "command" in test}


def names_for(file):
    """The tests to run with small sizes, the likeliest first; and these once more with the usual ones."""
    if file.startswith(("lib/ranks/", "lib/mpi/")):
        names = ("ranks.threads.cpu", "ranks.nccl.cpu", "mpi.openmpi.1", "mpi.mpich.2", "mpi.openmpi.3",
                 "mpi.openmpi.3 long", "mpi.mpich.4 long")
        return [name for name in names if name.split()[0] in all_tests]
    stem = os.path.basename(file)[:-2]

    def rank(name):
        base = re.sub(r"^test_|\.cpu.*", "", name)
        likely = base in stem or stem in base or base in LIKELY.get(stem, "").split()
        return not likely, base in LAST and LAST.index(base) + 1, base in SELDOM, name

    ranks = sorted(rank(name) for name in all_tests if re.match(r"test_\w+\.cpu$|faults\.cpu", name))
    likely = [name for unlikely, _, _, name in ranks if not unlikely]
    return likely + [name for unlikely, _, seldom, name in ranks if unlikely and not seldom] + [
        name + " long" for name in likely]


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT // 4, LIMIT // 4))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def passes(name, mutant=None):
    test = all_tests[name.split()[0]]
    properties = {one["name"]: one["value"] for one in test["properties"]}
    environment = dict(os.environ, VSCAN_TEST_SIZES="normal" if " " in name else "small")
    environment.update(setting.split("=", 1) for setting in properties.get("ENVIRONMENT", []))
    command = test["command"]
    if mutant:
        # the mutant's library, if it is one; and what the build has, for programs that lie in the mutant's folder
        environment["LD_LIBRARY_PATH"] = ":".join((os.path.join(mutant.folder, "lib"), os.path.join(build, "lib"),
                                                   os.path.join(build, "run"), os.path.join(build, "tests", "mpi")))
        command = [mutant.link(os.path.relpath(word, build), os.path.relpath(word, build))
                   if word.startswith(os.path.join(build, "run", "")) else word for word in command]
    if None in command:
        return False
    process = subprocess.Popen(command, env=environment, cwd=properties["WORKING_DIRECTORY"], preexec_fn=limits,
                               start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        return process.wait(LIMIT) in (0, 77)
    except subprocess.TimeoutExpired:
        return False
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


# ---- All of them ---------------------------------------------------------------------------------

with open(os.path.join(root, "tests", "mutants.txt"), encoding="utf-8") as known:
    explained = {line for line in known.read().splitlines() if line and not line.startswith(("#", "== "))}
files = sorted(file for file, commands in compiled.items() if re.match(r"lib/(api|core|cpu|ranks|mpi)/\w+\.c$", file)
               and any("/vscan" in name for name, _ in commands))
candidates, times = {}, {}
for file in files:
    for mutant in (Mutant(file, found) for found in mutants_of(file)):
        again = times[mutant.entry] = times.get(mutant.entry, 0) + 1
        candidates[hashlib.sha256(f"{seed} {mutant.entry} {again}".encode()).hexdigest()] = mutant
gone = sorted(line for line in explained if line not in times and line.split(":")[0] in files)
for line in gone:
    print(f"in tests/mutants.txt, but no mutant: {line}")
print(f"{len(candidates)} mutants of {len(files)} files; {count} of them, after {begin}, by seed {seed}", flush=True)

sound = set()  # tests that pass without a mutant
made = killed = known_survivors = survivors = 0
for _, mutant in sorted(candidates.items())[begin:]:
    if made == count:
        break
    begin += 1
    if not mutant.make():
        continue
    made += 1
    for name in names_for(mutant.file):
        if passes(name, mutant):
            continue
        if name not in sound and not passes(name):
            sys.exit(f"{name} fails without any mutant")
        sound.add(name)
        killed += 1
        print(f"{name:28} {mutant.entry}", flush=True)
        break
    else:
        is_known = mutant.entry in explained
        known_survivors, survivors = known_survivors + is_known, survivors + (not is_known)
        print(f"{'survives, explained' if is_known else 'SURVIVES':28} {mutant.entry}", flush=True)
print(f"{made} mutants: {killed} killed, {known_survivors} that are explained, {survivors} survive; go on from {begin}")
sys.exit(1 if survivors or gone else 0)
