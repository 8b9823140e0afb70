# SPDX-License-Identifier: Apache-2.0
"""Reads a header whose comments are its manual (include/vscan.h), and gives its parts.

What is expected of the header:
  /* ---- NAME ---- */       a section begins
  /** ... */                 a comment on the declarations that follow it
  /* ... */                  at the beginning of a line: text that introduces what follows
  indented by 2             a list: a name, two spaces or more, and its text, whose further lines are indented
                            more; lines indented by 4 begin members of the item above; steps have "1. " and no name
  indented by 4, after an
  empty line                lines that stay as they are: formulas, tables, programs
"""
import re


class Text:
    """A comment: a list of blocks, ("text", str), ("lines", [str]) or ("list", [(level, term, str)])."""

    def __init__(self, comment):
        self.blocks = []
        before = ""
        for line in comment:
            self.add(line, before)
            before = line

    def add(self, line, before):
        indent = len(line) - len(line.lstrip())
        kind, content = self.blocks[-1] if self.blocks else ("", None)
        if not line.strip():
            if kind == "lines":
                content.append("")
            return
        if kind == "lines" and indent >= 4:
            content.append(line[4:])
        elif indent >= 4 and not before.strip() and kind != "":
            self.blocks.append(("lines", [line[4:]]))
        elif indent >= 2:
            self.add_to_list(line, indent)
        elif kind == "text" and before.strip() and not re.match(r"(Statuses:|[nN] = 0\b)", line):
            self.blocks[-1] = ("text", f"{content} {line.strip()}")
        else:
            self.blocks.append(("text", line.strip()))

    def add_to_list(self, line, indent):
        if not self.blocks or self.blocks[-1][0] != "list":
            self.blocks.append(("list", []))
        items = self.blocks[-1][1]
        parts = re.match(r" +(\S.*?) {2,}(\S.*)", line)
        level = {2: 0, 4: 1}.get(indent, -1)
        if items and level == 0 and items[-1][1].endswith(","):
            items[-1] = (level, f"{items[-1][1]} {parts[1]}", f"{items[-1][2]} {parts[2]}")
        elif level >= 0 and parts:
            items.append((level, parts[1], parts[2]))
        elif level == 0 and (re.match(r" +\d+\. ", line) or not items or items[-1][1] or items[-1][2].endswith(".")):
            # without a name
            items.append((level, "", line.strip()))
        else:
            items[-1] = (*items[-1][:2], f"{items[-1][2]} {line.strip()}")

    def finish(self):
        """Takes empty lines from the ends of lines, and makes lists of those that begin with names of statuses."""
        for k, (kind, content) in enumerate(self.blocks):
            if kind != "lines":
                continue
            while not content[-1]:
                content.pop()
            if re.match(r"[A-Z_]{3,}[ ,]", content[0]) and not any("=" in line for line in content):
                listed = Text([])
                for line in content:
                    listed.add_to_list(("  " if line[0] != " " else "        ") + line, 2 if line[0] != " " else 8)
                self.blocks[k] = listed.blocks[0]
        return self

    def summary(self):
        """The first sentence, or the part of it before a colon, if that says enough."""
        sentence = re.split(r"\.(?: |$)", re.sub(r" \([^)]*\)", "", self.blocks[0][1]))[0]
        short, _, more = sentence.partition(": ")
        enough = len(short.split()) > 2 or more.startswith("with ") or not more
        return (short if enough else sentence).strip(" :,")


class Item:
    """What one comment describes. kind: text, function, enum, constants, struct, handle."""

    def __init__(self, kind, text, names, code):
        self.kind, self.text, self.names, self.code = kind, text, names, code
        self.members = []  # of an enum or a struct: (declaration, name, text)
        self.section = None


class Section:
    def __init__(self, name):
        self.name, self.items = name, []


class Header:
    def __init__(self, path, first_section):
        with open(path, encoding="utf-8") as file:
            source = file.read()
        self.name = path.rsplit("/", 1)[-1]
        comment = re.search(r"/\*\*\n \* @file\n(.*?) \*/", source, re.S)
        title, *rest = clean(comment[1])
        self.title = title.partition(" - ")[2].rstrip(".")
        self.text = Text(rest).finish()
        self.sections = [Section(first_section)]
        self.read(source[comment.end():])
        self.sections = [section for section in self.sections if section.items]

    def read(self, source):
        at = source.index("#include")
        pattern = re.compile(r"^/\* -+ (?P<section>.*?) -+ \*/$|^/\*\*(?P<doc>.*?)\*/|^/\*(?P<intro>.*?)\*/", re.S | re.M)
        while comment := pattern.search(source, at):
            at = comment.end()
            if comment["section"]:
                self.sections.append(Section(comment["section"]))
            elif comment["intro"] and comment["intro"].startswith("\n"):
                self.add(Item("text", Text(clean(comment["intro"])).finish(), [], ""))
            elif comment["doc"]:
                following = pattern.search(source, at)
                self.declare(Text(clean(comment["doc"])).finish(), source[at:following.start() if following else None])

    def add(self, item):
        item.section = self.sections[-1]
        item.section.items.append(item)

    def declare(self, text, code):
        code = re.sub(r"\n(?:#ifdef|#endif|}\n).*", "", code, flags=re.S).strip()
        functions = re.findall(r"VSCAN_API ([^;]*?)\(([^;]*)\);", code)
        if functions:
            code = [(re.sub(r"\s+", " ", head), re.sub(r"\s+", " ", arguments)) for head, arguments in functions]
            return self.add(Item("function", text, [head.split()[-1].lstrip("*") for head, _ in code], code))
        body = re.search(r"\{(.*)\}\s*(\w*);", code, re.S)
        if not body:
            names = re.findall(r"typedef struct (\w+) \w+;|#define (\w+)", code)
            kind = "handle" if code.startswith("typedef") else "constants"
            return self.add(Item(kind, text, [a or b for a, b in names], code))
        item = Item("struct" if "struct" in code.split("{")[0] else "enum" if body[2] else "constants", text,
                    [body[2]] if body[2] else [], code)
        said = r"\s*(?:/\*\*<(.*?)\*/)?"
        declaration = r"(\w[^;/]*);" + said if item.kind == "struct" else r"(\w+ = [^,/\n]+),?" + said
        for declared, text in re.findall(declaration, re.sub(r"/\*(?!\*<).*?\*/", "", body[1], flags=re.S), re.S):
            declared, text = " ".join(declared.split()), " ".join(text.split())
            name = re.search(r"\w+$" if item.kind == "struct" else r"\w+", declared)[0]
            if not name.endswith("FORCE_INT"):
                item.members.append((declared, name, text))
                if not body[2]:
                    item.names.append(name)
        self.add(item)

    def items(self):
        return [item for section in self.sections for item in section.items]


def clean(comment):
    """The lines of a comment without what makes it one."""
    lines = [re.sub(r"^ ?\*? ?", "", line.rstrip(), count=1) for line in comment.strip("\n").split("\n")]
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return lines
