# SPDX-License-Identifier: Apache-2.0
"""Digests of the machine code of kernels, without a GPU and without CUDA's tools:

    kernel_digest.py [--output FILE] [--only ARCHITECTURE] BUILD...
    kernel_digest.py [--only ARCHITECTURE] --compare BEFORE AFTER
    kernel_digest.py --record RECORD LIBRARY

BUILD, BEFORE and AFTER are each a library, an object, a cubin, or a folder, of which all objects are taken. The
first form prints a line for each kernel: architecture, mangled name, digest, registers, bytes of static shared
memory (on sm_90 and later with the 1024 that the driver has) and of stack; then a line for each architecture with
the digest of them all, which the order of kernels and of objects does not change; for one file its SHA-256, too.

A kernel's digest is of what the GPU is given: instructions, constants, what they refer to by name, launch bounds,
parameters, sizes. Not of names of folders, lines of the source, or of what lies where in a file. The shared data
of an object are a line of their own. PTX is left out: it is not machine code.

--compare lists the kernels that differ, are new or gone, of architectures that both have; exits with 1 if there
are any. --record compares a library with the record of a GPU (tests/gpu_record.sh); exits with 1 if they differ,
with 77 if they cannot be compared.
"""
import collections
import contextlib
import ctypes
import ctypes.util
import glob
import hashlib
import os
import re
import struct
import sys

FATBIN = struct.pack("<IHH", 0xBA55ED50, 1, 16)
IS_ELF, LZ4, ZSTD = 2, 0x2000, 0x8000
CUDA, NOBITS, RELA, FUNCTION = 190, 8, 4, 2
# Attributes of .nv.info: those whose first word is the number of a symbol, and one that is a list of these.
PARAMETERS, EXTERNS, FRAME, REGISTERS = 0x0A, 0x0F, 0x11, 0x2F

Kernel = collections.namedtuple("Kernel", "digest registers shared stack")


def fail(text):
    print(f"kernel_digest.py: {text}", file=sys.stderr)
    sys.exit(2)


def unpack_lz4(packed, size):
    """A block of LZ4: literals, then a copy of what has been written, and so on."""
    out, at = bytearray(), 0

    def length(start):
        nonlocal at
        while start >= 15 and packed[at] == 255:
            start, at = start + 255, at + 1
        if start >= 15:
            start, at = start + packed[at], at + 1
        return start
    while len(out) < size:
        token, at = packed[at], at + 1
        literals = length(token >> 4)
        out += packed[at:at + literals]
        at += literals
        if len(out) >= size:
            break
        back, at = packed[at] | packed[at + 1] << 8, at + 2
        for _ in range(length(token & 15) + 4):
            out.append(out[-back])
    return bytes(out)


def unpack_zstd(packed, size):
    name = ctypes.util.find_library("zstd") or "libzstd.so.1"
    try:
        zstd = ctypes.CDLL(name)
    except OSError:
        fail("kernels are compressed by Zstandard, and there is no libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    out = ctypes.create_string_buffer(size)
    if zstd.ZSTD_decompress(out, size, packed, len(packed)) != size:
        fail("a compressed kernel could not be read")
    return out.raw


def cubins(data):
    """The cubins of a file."""
    if data[:4] == b"\x7fELF" and struct.unpack_from("<H", data, 18)[0] == CUDA:
        yield data
        return
    at = data.find(FATBIN)
    while at >= 0:
        end = at + 16 + struct.unpack_from("<Q", data, at + 8)[0]
        entry = at + 16
        while entry < end:
            kind, _, head, padded, packed = struct.unpack_from("<HHIQI", data, entry)
            flags, _, size = struct.unpack_from("<QQQ", data, entry + 40)
            body = data[entry + head:entry + head + (packed or padded)]
            if kind == IS_ELF:
                unpack = unpack_zstd if flags & ZSTD else unpack_lz4 if flags & LZ4 else None
                yield unpack(body, size) if unpack else body
            entry += head + padded
        at = data.find(FATBIN, end)


def without_hash(name):
    """Anonymous namespaces have a name that comes from the file's: what it is without that."""
    def rest(found):
        return "12_GLOBAL__N_1" + without_hash(found[0][len(found[1]) + int(found[1]):])
    return re.sub(r"(\d+)_GLOBAL__N__[0-9a-f]{8}_.*", rest, name)


class Cubin:
    """The sections of a cubin by name, and its symbols."""

    def __init__(self, data):
        self.data = data
        start, = struct.unpack_from("<Q", data, 40)
        size, count, names = struct.unpack_from("<HHH", data, 58)
        heads = [struct.unpack_from("<IIQQQQIIQQ", data, start + k * size) for k in range(count)]
        self.sections = {self.text(heads[names][4] + head[0]): head for head in heads[1:]}
        self.names = [""] + list(self.sections)
        strings = self.sections[".strtab"][4]
        symbols = self.sections[".symtab"]
        self.symbols = []
        for at in range(symbols[4], symbols[4] + symbols[5], 24):
            name, info, _, section, value, _ = struct.unpack_from("<IBBHQQ", data, at)
            name = self.text(strings + name)
            if not name and section < len(self.names):
                name = self.names[section]
            self.symbols.append((without_hash(name), info & 15, section, value))
        found = re.search(rb"-arch (sm_\w+)", self.bytes(".note.nv.tkinfo"))
        if data[8] < 8: # of CUDA 12: no such section, and the architecture is elsewhere
            self.architecture = f"sm_{data[48]}" + "a" * (data[49] >> 3 & 1)
        else:
            self.architecture = found[1].decode() if found else f"sm_{data[49]}"

    def text(self, at):
        return self.data[at:self.data.index(b"\0", at)].decode()

    def bytes(self, name):
        head = self.sections.get(name)
        return self.data[head[4]:head[4] + head[5]] if head and head[1] != NOBITS else b""

    def attributes(self, name):
        """Those of a section of the form of .nv.info: (form, attribute, bytes)."""
        info, at = self.bytes(name), 0
        while at < len(info):
            form, attribute, value = struct.unpack_from("<BBH", info, at)
            size = value if form == 4 else 0
            yield form, attribute, info[at + 4:at + 4 + size] if size else info[at + 2:at + 4]
            at += 4 + size

    def relocations(self, name):
        """What a section refers to by name."""
        for kind, size in ((".rela", 24), (".rel", 16)):
            found = self.bytes(kind + name)
            for at in range(0, len(found), size):
                offset, how, symbol = struct.unpack_from("<QII", found, at)
                addend = struct.unpack_from("<q", found, at + 16)[0] if size == 24 else 0
                yield f"{offset} {how} {self.symbols[symbol][0]} {addend}"

    def kernels(self):
        """(name, Kernel) of each kernel, and of the data that they share."""
        of_symbol = collections.defaultdict(dict)
        for _, attribute, value in self.attributes(".nv.info"):
            if attribute in (REGISTERS, FRAME):
                symbol, amount = struct.unpack("<II", value)
                of_symbol[self.symbols[symbol][0]][attribute] = amount
        for section in self.sections:
            if not section.startswith(".text."):
                continue
            name = section[6:]
            made = hashlib.sha256()
            for part in [section] + sorted(s for s in self.sections if re.match(r"\.nv\.constant\d+\.", s)
                                           and s.endswith("." + name)):
                made.update(b"%d " % len(self.bytes(part)) + self.bytes(part))
                made.update("\n".join(self.relocations(part)).encode())
            for form, attribute, value in self.attributes(".nv.info." + name):
                if attribute == PARAMETERS:
                    value = value[4:]
                elif attribute == EXTERNS:
                    value = " ".join(self.symbols[s][0] for s, in struct.iter_unpack("<I", value)).encode()
                made.update(b"%d %d %d " % (form, attribute, len(value)) + value)
            shared = self.sections.get(".nv.shared." + name)
            known = of_symbol[without_hash(name)]
            size = known.get(REGISTERS, 0), shared[5] if shared else 0, known.get(FRAME, 0)
            made.update(b"%d %d %d" % size)
            yield without_hash(name), Kernel(made.hexdigest()[:16], *size)
        shared = sorted(s for s in self.sections if re.fullmatch(r"\.nv\.(constant\d+|global(\.init)?)", s))
        if shared:
            made = hashlib.sha256()
            for part in shared:
                made.update(f"{part} {self.sections[part][5]} ".encode() + self.bytes(part))
                made.update("\n".join(self.relocations(part)).encode())
            numbers = {self.names.index(part) for part in shared}
            names = sorted(s[0] for s in self.symbols if s[2] in numbers and not s[0].startswith("."))
            yield "data:" + ",".join(names), Kernel(made.hexdigest()[:16], 0, 0, 0)


def files_of(path):
    if not os.path.isdir(path):
        return [path]
    return sorted(glob.glob(os.path.join(path, "**", "*.o"), recursive=True))


def read(paths, only):
    """By architecture, and by name the kernels of that name: the same one may be in several objects."""
    found = collections.defaultdict(lambda: collections.defaultdict(set))
    for path in (file for path in paths for file in files_of(path)):
        with open(path, "rb") as file:
            for data in cubins(file.read()):
                cubin = Cubin(data)
                if only in (None, cubin.architecture):
                    for name, kernel in cubin.kernels():
                        found[cubin.architecture][name].add(kernel)
    return found


def lines_of(kernels):
    return [f"{name} {' '.join(map(str, kernel))}" for name in sorted(kernels) for kernel in sorted(kernels[name])]


def digest_of(architecture, kernels):
    lines = lines_of(kernels)
    count = sum(not line.startswith("data:") for line in lines)
    return f"{architecture}: {count} kernels, digest {hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:32]}"


def compare(before, after):
    both = sorted(set(before) & set(after))
    if not both:
        fail(f"no architecture is in both: {', '.join(sorted(before)) or 'none'}; {', '.join(sorted(after)) or 'none'}")
    different = 0
    for architecture in both:
        old, new = before[architecture], after[architecture]
        for name in sorted(set(old) | set(new)):
            if old.get(name) == new.get(name):
                continue
            different += 1
            word = "changed" if name in old and name in new else "gone" if name in old else "new"
            sizes = [", ".join("/".join(map(str, kernel[1:])) for kernel in sorted(side[name]))
                     for side in (old, new) if name in side]
            print(f"{word} {architecture} {name} registers/shared/stack {' -> '.join(sizes)}")
        print(digest_of(architecture, old))
        if old != new:
            print(digest_of(architecture, new))
    print(f"{different} kernels differ" if different else "the same machine code")
    return 1 if different else 0


def compare_record(record, library):
    """Whether the GPU ran what is built here."""
    def skip(why):
        print(f"skipped: {why}")
        return 77
    with open(record, encoding="utf-8") as file:
        text = file.read()
    heads = text.count("\ncommit ") + text.startswith("commit ")
    kept = re.findall(r"^kernels ((sm_\w+): .*)$", text, re.MULTILINE)
    if not kept:
        return skip(f"{record} has no digest of machine code: it was made before there was one. Make it anew with "
                    "tests/gpu_record.sh on a machine with a GPU.")
    if len(kept) != heads or len(set(kept)) > 1:
        print(f"{record} has {heads} parts, and not all were made with the same machine code: make it anew from one "
              "build with tests/gpu_record.sh.")
        return 1
    line, architecture = kept[0]
    kernels = read([library], architecture).get(architecture)
    if not kernels:
        return skip(f"the record is of {architecture}, for which {library} has no machine code.")
    compiler = re.search(r"release [\d.]+, V[\d.]+", compiler_of(library))
    if not compiler or f"nvcc {compiler[0].rpartition('V')[2]}," not in text:
        return skip(f"the record's library was compiled by another nvcc than {library} "
                    f"({compiler[0] if compiler else 'its assembler is of CUDA 12'}).")
    here = digest_of(architecture, kernels)
    if here == line:
        print(f"the record and {library} have the same machine code: {here}")
        return 0
    commit = re.search(r"^commit (.*)$", text, re.MULTILINE)[1]
    print(f"Kernels have changed since {record} was made, at {commit}, so it vouches for others:\n"
          f"    the record: {line}\n    built here: {here}\n"
          "Run tests/gpu_record.sh on a machine with a GPU and commit what it writes. Which kernels changed, "
          "kernel_digest.py --compare says, given a build of that commit and this one.")
    return 1


def compiler_of(library):
    with open(library, "rb") as file:
        for data in cubins(file.read()):
            return Cubin(data).bytes(".note.nv.tkinfo").decode("latin-1")
    return ""


def main(words):
    only = None
    if words[:1] == ["--output"] and len(words) > 2:
        with open(words[1], "w", encoding="utf-8") as file, contextlib.redirect_stdout(file):
            return main(words[2:])
    if words[:1] == ["--only"] and len(words) > 1:
        only, words = words[1], words[2:]
    if words[:1] == ["--compare"] and len(words) == 3:
        return compare(read(words[1:2], only), read(words[2:], only))
    if words[:1] == ["--record"] and len(words) == 3:
        return compare_record(*words[1:])
    if not words or words[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    found = read(words, only)
    if not found:
        fail("there are no kernels in " + " ".join(words))
    for architecture in sorted(found):
        for line in lines_of(found[architecture]):
            print(architecture, line)
    for architecture in sorted(found):
        print(digest_of(architecture, found[architecture]))
    if len(words) == 1 and os.path.isfile(words[0]):
        with open(words[0], "rb") as file:
            print("sha256 " + hashlib.sha256(file.read()).hexdigest())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
