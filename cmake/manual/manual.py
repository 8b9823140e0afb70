#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes pages of the manual that the headers are: HTML, and man pages.

    manual.py OUT

in the folders OUT/html and OUT/man3, which it empties first. A page for each function and type, one for each
section of a header, and those of the *.md beside this file. It needs nothing but Python 3.8.
"""
import html
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import markdown  # noqa: E402
from header import Header  # noqa: E402

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))
KINDS = {"function": "functions", "enum": "types", "struct": "types"}  # what has a page of its own


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


class Manual:
    def __init__(self):
        self.headers = [Header(os.path.join(root, "include", "vscan.h"), "Version and handles"),
                        Header(os.path.join(root, "include", "vscan_ranks.h"), "Handles"),
                        Header(os.path.join(root, "include", "vscan_mpi.h"), "Handles")]
        numbers = re.findall(r"#define VSCAN_VERSION_[A-Z]+ (\d+)", read(root, "include", "vscan.h"))
        self.version = ".".join(numbers)
        released = re.search(rf"^## {re.escape(self.version)} - ([0-9-]+)", read(root, "CHANGELOG.md"), re.M)
        self.date = released[1] if released else ""
        self.targets = {}  # where a name is explained: in HTML
        for header in self.headers:
            for item in header.items():
                own = item.kind in KINDS
                page = f"{item.names[0]}.html" if own else self.section_page(header, item.section)
                for name in item.names:
                    self.targets[name] = f"{name}.html" if own else f"{page}#{name}"
                for _, name, _ in item.members if item.kind == "enum" else []:
                    self.targets[name] = f"{page}#{name}"
        self.targets.update({header.name: f"{self.index_page(header)}" for header in self.headers})
        self.guides = sorted(name[:-3] for name in os.listdir(here) if name.endswith(".md"))

    def section_page(self, header, section):
        return f"{header.name[:-2]}-{markdown.anchor(section.name)}.html".replace("_", "-")

    def index_page(self, header):
        return "index.html" if header is self.headers[0] else f"{header.name[:-2]}.html".replace("_", "-")

    def common(self, item):
        """What introduces a section, if the item's text refers to it."""
        said = " ".join(str(content) for _, content in item.text.blocks)
        if "beginning of this part" not in said and "see above" not in said:
            return []
        return [other for other in item.section.items if other.kind == "text"]


# ---- HTML ----------------------------------------------------------------------------------------


class Pages:
    def __init__(self, manual, folder):
        self.manual, self.folder = manual, folder
        self.here = ""

    def code(self, text):
        """Code with links: of names that the manual explains, but not to the page itself."""
        def link(match):
            target = self.manual.targets.get(match[0])
            if target is None or target == self.here:
                return match[0]
            return f'<a href="{target}">{match[0]}</a>'
        return re.sub(r"\b(?:vscan_\w+(?:\.h)?|VSCAN_\w+)", link, html.escape(text, quote=False))

    def inline(self, text):
        """A sentence: code is what has brackets, and the names of the interface; **this** is bold."""
        parts = re.split(r"(`[^`]+`|\b\w+\[[^]]*\](?:\[[^]]*\])?|\b(?:vscan_\w+(?:\.h)?|VSCAN_\w+)\b(?:\(\))?)", text)
        said = "".join(f"<code>{self.code(part.strip('`'))}</code>" if k % 2 else html.escape(part, quote=False)
                       for k, part in enumerate(parts))
        return re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", said)

    def program(self, text):
        return f"<pre><code>{self.code(text)}</code></pre>"

    def items(self, items):
        out, level = ["<dl>"], 0
        for depth, term, text in items:
            if depth > level:
                out.append("<dd><dl>")
            elif depth < level:
                out.append("</dl></dd>")
            level = depth
            out.append((f"<dt>{self.code(term)}</dt>" if term else "") + f"<dd>{self.inline(text)}</dd>")
        return "\n".join(out + ["</dl></dd>"] * level + ["</dl>"])

    def statuses(self, said):
        """With links from names of statuses, which the header has without what they begin with."""
        def link(match):
            target = next((self.manual.targets[name] for name in (f"VSCAN_ERROR_{match[0]}", f"VSCAN_RANKS_ERROR_{match[0]}")
                           if name in self.manual.targets), None)
            return f'<a href="{target}">{match[0]}</a>' if target else match[0]
        return re.sub(r"(?<![A-Z_#>])[A-Z][A-Z_]+(?![A-Za-z_])", link, said)

    def text(self, text, anchors=False):
        out = []
        for kind, content in text.blocks:
            if kind == "lines":
                out.append(self.program("\n".join(content)))
            elif kind == "list":
                least = min(depth for depth, _, _ in content)
                out.append(self.items([(depth - least, term, said) for depth, term, said in content]))
            elif content.startswith("Statuses:"):
                out.append(f'<p class="statuses">{self.statuses(self.inline(content))}</p>')
            else:
                head = re.match(r"([A-Z][A-Za-z', ]{3,30})(?:\.|:| are) ", content) if anchors else None
                name = f' id="{markdown.anchor(head[1])}"' if head else ""
                said = self.inline(content)
                if head and content[len(head[1])] == ".":
                    said = f"<strong>{head[1]}.</strong>{said[len(html.escape(head[1], quote=False)) + 1:]}"
                out.append(f"<p{name}>{said}</p>")
        return "\n".join(out)

    def write(self, name, title, way, body):
        links = "".join(f' › <a href="{to}">{said}</a>' for said, to in way)
        page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)} - libvscan</title>
<link rel="stylesheet" href="style.css">
</head>
<body>
<nav><a href="index.html">libvscan {self.manual.version}</a>{links}</nav>
<main>
{body}
</main>
<footer>libvscan {self.manual.version}. This page is made of the comments and texts of its sources.</footer>
</body>
</html>
"""
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(page)

    def list_of(self, items):
        """A list of pages, with what each is about."""
        out = []
        for item in items:
            names = ", ".join(f'<a href="{self.manual.targets[name]}">{name}</a>' for name in item.names)
            out.append(f"<dt>{names}</dt><dd>{self.inline(item.text.summary())}</dd>")
        return '<dl class="index">' + "\n".join(out) + "</dl>" if out else ""

    def declaration(self, item):
        if item.kind == "function":
            def broken(head, arguments):
                line = f"{head}({arguments});"
                return line if len(line) <= 88 else f"{head}(\n    " + ",\n    ".join(arguments.split(", ")) + ");"
            return "\n".join(broken(*code) for code in item.code)
        if item.kind in ("handle", "constants") and not item.members:
            return item.code
        return ""

    def members(self, item):
        """Of an enum or a struct, as a table."""
        head = "<th>member</th>" if item.kind == "struct" else "<th>constant</th><th>number</th>"
        rows = []
        for declared, name, said in item.members:
            name_cell = f'<td id="{name}"><code>{{}}</code></td>'
            if item.kind == "struct":
                cells = name_cell.format(self.code(declared))
            else:
                cells = name_cell.format(name) + f"<td>{self.code(declared.partition(' = ')[2])}</td>"
            rows.append(f"<tr>{cells}<td>{self.inline(said)}</td></tr>")
        return (f'<div class="wide"><table><thead><tr>{head}<th>meaning</th></tr></thead><tbody>' + "\n".join(rows) +
                "</tbody></table></div>")

    def item(self, item, include=""):
        out = []
        declared = "\n\n".join(part for part in (include, self.declaration(item)) if part)
        if declared:
            out.append(f'<pre class="declaration"><code>{self.code(declared)}</code></pre>')
        out.append(self.text(item.text))
        if item.members:
            out.append(self.members(item))
        return "\n".join(out)

    def item_pages(self, header, item):
        way = [(item.section.name, self.manual.section_page(header, item.section))]
        for name in item.names:
            self.here = f"{name}.html"
            others = [other for other in item.section.items if other.kind in KINDS and other is not item]
            body = [f"<h1><code>{name}</code></h1>",
                    f'<p class="summary">{self.inline(item.text.summary())}</p>',
                    self.item(item, f"#include <{header.name}>")]
            for text in self.manual.common(item):
                body.append(f"<h2>{item.section.name}: in common</h2>{self.text(text.text)}")
            if others:
                body.append(f"<h2>{item.section.name}: more</h2>{self.list_of(others)}")
            self.write(f"{name}.html", name, way, "\n".join(body))

    def section(self, header, section):
        self.here = self.manual.section_page(header, section)
        body = [f"<h1>{section.name}</h1>"]
        listed = []
        for item in section.items:
            if item.kind in KINDS:
                listed.append(item)
                continue
            body.append(self.list_of(listed))
            listed = []
            if item.names:
                ids = "".join(f'<span id="{name}"></span>' for name in item.names if not item.members)
                body.append(f"<h2>{ids}{', '.join(f'<code>{name}</code>' for name in item.names)}</h2>")
            body.append(self.item(item))
        body.append(self.list_of(listed))
        self.write(self.here, section.name, [], "\n".join(part for part in body if part))

    def index(self, header):
        self.here = self.manual.index_page(header)
        main = header is self.manual.headers[0]
        body = [f"<h1>{'libvscan' if main else header.name}</h1>",
                f'<p class="summary">{self.inline(header.title[0].upper() + header.title[1:])}.</p>']
        if main:
            pages = '<a href="#pages">Pages: coming from, order of addition</a> · ' if self.manual.guides else ""
            body.append('<p><a href="#functions">Functions</a> · <a href="vscan-ranks.html">Many machines</a> · '
                        f'{pages}<a href="#how-it-works">How it works</a></p>')
        body.append('<h2 id="functions">Functions and types</h2>')
        for section in header.sections:
            page = self.manual.section_page(header, section)
            body.append(f'<h3><a href="{page}">{section.name}</a></h3>')
            items = [item for item in section.items if item.kind in KINDS or item.names]
            body.append(self.list_of(items))
        if main and self.manual.guides:
            body.append('<h2 id="pages">Pages</h2><ul>')
            for name in self.manual.guides:
                title = re.match(r"# (.*)", re.sub(r"^<!--.*-->\n", "", read(here, f"{name}.md")))[1]
                body.append(f'<li><a href="{name.replace("_", "-")}.html">{title}</a></li>')
            body.append("</ul>")
        body.append(f'<h2 id="how-it-works">How it works</h2>{self.text(header.text, anchors=True)}')
        self.write(self.here, header.name if not main else "Manual", [], "\n".join(body))

    def guide(self, name):
        self.here = f"{name.replace('_', '-')}.html"
        source = read(here, f"{name}.md")
        body = markdown.to_html(source, lambda text: f"<code>{self.code(text)}</code>", self.program)
        title = re.search(r"^# (.*)", source, re.M)[1]
        self.write(self.here, title, [("Pages", "index.html#pages")], body)

    def all(self):
        shutil.copy(os.path.join(here, "style.css"), self.folder)
        for header in self.manual.headers:
            self.index(header)
            for section in header.sections:
                self.section(header, section)
                for item in section.items:
                    if item.kind in KINDS:
                        self.item_pages(header, item)
        for name in self.manual.guides:
            self.guide(name)


# ---- man pages -----------------------------------------------------------------------------------


def troff(text):
    """Text as troff reads it: no character of it is a request or an escape."""
    for character, escape in (("\\", "\\e"), ("-", "\\-"), ("^", "\\(ha"), ("~", "\\(ti"), ("`", "\\(ga"), ("'", "\\(aq")):
        text = text.replace(character, escape)
    return "\\&" + text if text[:1] in (".", "\\") or text[:2] == "\\(" else text


class ManPages:
    def __init__(self, manual, folder):
        self.manual, self.folder = manual, folder

    def paragraph(self, text):
        """Sentences begin lines, as in troff they should."""
        lines = re.sub(r"(?<=[a-z0-9)\]]\.) (?=[A-Z])", "\n", text).split("\n")
        return "\n".join(re.sub(r"\*\*(.+?)\*\*", r"\\fB\1\\fR", troff(line)) for line in lines)

    def lines(self, lines):
        return ".PP\n.RS 4\n.nf\n" + "\n".join(troff(line) or ".sp" for line in lines) + "\n.fi\n.RE"

    def items(self, items):
        out, inner = [], False
        for depth, term, text in items:
            if (depth > 0) != inner:
                out.append(".RE" if inner else ".RS")
                inner = depth > 0
            out.append(f".TP\n.B {troff(term)}\n{self.paragraph(text)}" if term else f".PP\n{self.paragraph(text)}")
        return "\n".join(out + [".RE"] * inner)

    def text(self, text):
        out = []
        for kind, content in text.blocks:
            if kind == "lines":
                out.append(self.lines(content))
            elif kind == "list":
                least = min(depth for depth, _, _ in content)
                out.append(self.items([(depth - least, term, said) for depth, term, said in content]))
            else:
                out.append(f".PP\n{self.paragraph(content)}")
        return re.sub(r"^\.PP\n", "", "\n".join(out))

    def prototype(self, head, arguments):
        """One that is too long for a line is broken after commas; names of arguments are in italics."""
        kept = [argument.strip() for argument in arguments.split(",")]
        start, lines, line = f"{head}(", [], ""
        for k, argument in enumerate(kept):
            piece = argument + ("," if k + 1 < len(kept) else ");")
            if line and (12 if lines else len(start)) + len(line) + len(piece) > 72:
                lines.append(line)
                line = ""
            line += (" " if line else "") + piece
        out = []
        for k, line in enumerate(lines + [line]):
            begin = start if k == 0 else " " * 12
            bold = re.sub(r"(\w+)(?=[,)])", r'" \1 "', line) if arguments != "void" else line
            out.append(f'.BI "{troff(begin)}{bold}"')
        return "\n".join(out)

    def page(self, header, names, summary, synopsis, body, others):
        see = re.sub(r"\(3\),", "(3),", ",\n".join(f".BR {other} (3)" for other in others))
        for name in names:
            all_names = ", ".join([name] + [other for other in names if other != name])
            text = f""".\\" Made of {header.name} by cmake/manual/manual.py.
.TH {name.upper()} 3 {self.manual.date or '""'} "libvscan {self.manual.version}" libvscan
.nh
.ad l
.SH NAME
{all_names} \\- {troff(summary)}
.SH SYNOPSIS
.nf
.B #include <{header.name}>
{synopsis}.fi
.SH DESCRIPTION
{body}
.SH SEE ALSO
{see}
"""
            with open(os.path.join(self.folder, f"{name}.3"), "w", encoding="ascii") as file:
                file.write(text)

    def item(self, header, item):
        others = [other.names[0] for other in item.section.items if other.kind in KINDS and other is not item]
        body = [self.text(item.text)]
        if item.kind == "function":
            synopsis = "\n".join(self.prototype(*code) for code in item.code)
        elif item.kind == "struct":
            members = [f"    {declared};" for declared, _, _ in item.members]
            synopsis = "\n".join(troff(line) for line in
                                 [f"typedef struct {item.names[0]} {{", *members, f"}} {item.names[0]};"])
        else:
            synopsis = troff(f"typedef enum {item.names[0]} {item.names[0]};")
        if item.members:
            body.append(self.items([(0, declared, said or "") for declared, _, said in item.members]))
        for text in self.manual.common(item):
            body.append(f".SS {item.section.name}: in common\n{self.text(text.text)}")
        overview = f"lib{header.name[:-2]}"
        self.page(header, item.names, item.text.summary(), f".sp\n{synopsis}\n", "\n".join(body), others + [overview])

    def overview(self, header, name):
        """libvscan(3): the introduction, and all functions; what has no page of its own is in it."""
        body = [self.text(header.text)]
        for section in header.sections:
            body.append(f".SS {troff(section.name)}")
            for item in section.items:
                if item.kind in KINDS:
                    names = ", ".join(item.names)
                    body.append(f".TP\n.B {names}\n{troff(item.text.summary())}")
                elif item.kind == "text":
                    body.append(self.text(item.text))
                else:
                    declared = [member for member, _, _ in item.members] or [item.code.replace("\n", "; ")]
                    body.append(f".TP\n.B {troff('; '.join(declared))}\n{self.text(item.text)}")
        first = [item.names[0] for item in header.items() if item.kind == "function"]
        self.page(header, [name], header.title, "", "\n".join(body), first[:1])

    def all(self):
        for header in self.manual.headers:
            self.overview(header, f"lib{header.name[:-2]}")
            for item in header.items():
                if item.kind in KINDS:
                    self.item(header, item)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: manual.py OUT")
    manual = Manual()
    for folder, pages in (("html", Pages), ("man3", ManPages)):
        path = os.path.join(sys.argv[1], folder)
        shutil.rmtree(path, ignore_errors=True)
        os.makedirs(path)
        pages(manual, path).all()


if __name__ == "__main__":
    main()
