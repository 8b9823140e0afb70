# SPDX-License-Identifier: Apache-2.0
"""Looks at the pages of the manual: pages.py [--spoilt] MANUAL

Every function of the headers has a page in HTML and a man page, with all its arguments and their texts; no link
leads nowhere; no part is empty; each page can be reached; troff finds nothing wrong. --spoilt: copies that are
spoilt in one place each, of which every one must be found fault with.
"""
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def functions():
    """Names, and the names of their arguments; by other rules than those of cmake/manual/header.py."""
    found = {}
    for header in ("vscan.h", "vscan_ranks.h", "vscan_mpi.h"):
        source = re.sub(r"/\*.*?\*/", " ", read(root, "include", header), flags=re.S)
        for name, arguments in re.findall(r"VSCAN_API[^;(]*?(\w+)\(([^)]*)\);", source):
            found[name] = re.findall(r"(\w+)\s*(?:,|$)", arguments) if arguments != "void" else []
    exported = set(read(root, "tests", "consumers", "exports.txt").split())
    assert exported == {name for name in found if not name.startswith(("vscan_ranks", "vscan_mpi"))}, "exports.txt and vscan.h differ"
    return found


class Page(html.parser.HTMLParser):
    VOID = {"meta", "link", "br", "img"}

    def __init__(self, source):
        super().__init__()
        self.ids, self.links, self.terms, self.faults, self.open = set(), [], [], [], []
        self.headings = []  # [level, title, how many characters follow before the next one]
        self.text = ""
        self.feed(source)
        self.close()
        self.faults += [f"<{tag}> is not closed" for tag in self.open]
        for k, (level, title, size) in enumerate(self.headings):
            deeper = k + 1 < len(self.headings) and self.headings[k + 1][0] > level
            if size == 0 and not deeper:
                self.faults.append(f"nothing under \"{title}\"")

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in self.VOID:
            self.open.append(tag)
        if "id" in attributes:
            if attributes["id"] in self.ids:
                self.faults.append(f"two of id {attributes['id']}")
            self.ids.add(attributes["id"])
        if "href" in attributes:
            self.links.append(attributes["href"])
        if tag in ("h1", "h2", "h3"):
            self.headings.append([int(tag[1]), "", 0])
        if tag == "dt":
            self.terms.append("")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes another")

    def handle_data(self, data):
        self.text += data
        if self.open and "dt" in self.open:
            self.terms[-1] += data
        if any(tag in self.open for tag in ("h1", "h2", "h3")):
            self.headings[-1][1] += data
        elif self.headings and "main" in self.open:
            self.headings[-1][2] += len(data.strip())


def look_at_html(folder):
    pages = {name: Page(read(folder, name)) for name in os.listdir(folder) if name.endswith(".html")}
    for name, page in pages.items():
        for fault in page.faults:
            yield f"{name}: {fault}"
        for link in page.links:
            if re.match(r"https?://", link):
                continue
            to, _, part = link.partition("#")
            if to == "style.css" and os.path.exists(os.path.join(folder, to)):
                continue
            if to not in ("", *pages) or (part and part not in pages[to or name].ids):
                yield f"{name}: a link to {link}"
        if re.search(r"/\*\*|VSCAN_API|^ \* |`|</?[a-z]+>", page.text.replace("<vscan", ""), re.M):
            yield f"{name}: what is no text"
        if re.search(r"\b1\. .* 2\. ", page.text):
            yield f"{name}: steps in one line"
    reached, ways = set(), ["index.html"]
    while ways:
        name = ways.pop()
        if name in reached or name not in pages:
            continue
        reached.add(name)
        ways += [link.partition("#")[0] for link in pages[name].links]
    yield from (f"{name}: no link leads there" for name in pages if name not in reached)
    for name, arguments in functions().items():
        page = pages.get(f"{name}.html")
        if page is None:
            yield f"{name} has no page"
            continue
        if not re.search(rf"\b{name}\s*\(", page.text):
            yield f"{name}.html: no declaration"
        if "Since 1." not in page.text:
            yield f"{name}.html: no version"
        terms = set(re.findall(r"\w+", " ".join(page.terms)))
        for argument in arguments[1:]:  # the first one is what it works on
            if argument not in terms:
                yield f"{name}.html: nothing about {argument}"


def look_at_man(folder):
    pages = sorted(os.listdir(folder))
    for name, arguments in functions().items():
        if f"{name}.3" not in pages:
            yield f"{name} has no man page"
            continue
        source = read(folder, f"{name}.3")
        for argument in arguments[1:]:
            if not re.search(rf"^\.B .*\b{argument}\b", source, re.M):
                yield f"{name}.3: nothing about {argument}"
    names = {page[:-2] for page in pages} | {"vscan-info"}
    for page in pages:
        source = read(folder, page)
        for other in re.findall(r"^\.BR (\S+) \(3\)", source, re.M):
            if other not in names:
                yield f"{page}: sees {other}(3)"
        if re.search(r"^(?:\.S[HS] .*\n(?!\.TP)|\.TP\n.*\n)(?:\.S[HS]|\.TP|\n|\Z)", source, re.M):
            yield f"{page}: an empty part"
        if not re.search(rf"^\.SH NAME\n{page[:-2]}\b.* \\- \S", source, re.M):
            yield f"{page}: no name"
    paths = [os.path.join(folder, page) for page in pages] + [os.path.join(root, "lib", "info", "vscan-info.1")]
    tools = [tool for tool in (["mandoc", "-T", "lint", "-W", "warning"], ["groff", "-ww", "-man", "-z", "-T", "utf8"])
             if shutil.which(tool[0])]
    for tool in tools:
        said = subprocess.run(tool + paths, capture_output=True, text=True)
        yield from (said.stdout + said.stderr).splitlines()


def look(manual):
    return [*look_at_html(os.path.join(manual, "html")), *look_at_man(os.path.join(manual, "man3"))]


SPOILT = [
    ("html/vscan_scan.html", None, None),
    ("man3/vscan_scan.3", None, None),
    ("html/vscan_ranks_sort.html", None, None),
    ("html/style.css", None, None),
    ("html/vscan_scan.html", "vscan_buffer_get.html", "vscan_buffer_take.html"),
    ("html/vscan_scan.html", "#VSCAN_PLUS", "#VSCAN_MINUS"),
    ("html/vscan_scan.html", "<dt>out</dt>", "<dt>to</dt>"),
    ("html/vscan_scan.html", "</main>", "<h2>More</h2></main>"),
    ("html/vscan_scan.html", "<p>", "<p><b>"),
    ("html/vscan_scan.html", "<p>", "<p>/** "),
    ("html/vscan_scan.html", "Since 1.0.0", ""),
    ("html/vscan_op.html", "<tr>", '<tr id="VSCAN_MAX">'),
    ("man3/vscan_scan.3", ".B out\n", ".B to\n"),
    ("man3/vscan_scan.3", ".BR vscan_scan_options (3)", ".BR vscan_option (3)"),
    ("man3/vscan_scan.3", ".SH DESCRIPTION\n", ".SH NOTES\n.SH DESCRIPTION\n"),
    ("man3/vscan_scan.3", "vscan_scan \\- ", "scan \\- "),
]


def main():
    arguments = sys.argv[1:]
    spoilt = arguments[:1] == ["--spoilt"]
    manual = arguments[-1]
    if not spoilt:
        faults = look(manual)
        print("\n".join(faults))
        print(f"{len(faults)} faults")
        sys.exit(1 if faults else 0)
    missed = 0
    before = set(look(manual))
    for name, old, new in SPOILT:
        with tempfile.TemporaryDirectory() as work:
            copy = os.path.join(work, "manual")
            shutil.copytree(manual, copy)
            path = os.path.join(copy, name)
            if old is None:
                os.remove(path)
            else:
                source = read(path)
                assert old in source, (name, old)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(source.replace(old, new))
            folder = look_at_html if name.startswith("html") else look_at_man
            faults = [fault for fault in folder(os.path.join(copy, name.partition("/")[0])) if fault not in before]
        print(f"{name}, {old!r} -> {new!r}: {faults[0] if faults else 'NOT FOUND'}")
        missed += not faults
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
