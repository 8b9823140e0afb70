# SPDX-License-Identifier: Apache-2.0
"""As much of Markdown as the pages of this folder use: headings, paragraphs, lists, steps, tables, programs between lines
of ```, and in lines `code`, **bold**, [links](to)."""
import html
import re


def inline(text, code):
    """text as HTML; code: a function that makes HTML of what stands between ` and `."""
    parts = re.split(r"(`[^`]+`)", text)
    for k, part in enumerate(parts):
        if part.startswith("`") and len(part) > 1:
            parts[k] = code(part[1:-1])
            continue
        part = html.escape(part, quote=False)
        part = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", part)
        parts[k] = re.sub(r"\[([^]]+)\]\(([^)]+)\)", link, part)
    return "".join(parts)


def link(match):
    """To the page of another file of this folder; what lies elsewhere in the sources has none, and is only named."""
    text, to = match.groups()
    if to.startswith("../"):
        return f"{text} ({to.lstrip('./')})" if text != to.lstrip("./") else text
    return f'<a href="{page(to)}">{text}</a>'


def page(link):
    return link[:-3].replace("_", "-") + ".html" if link.endswith(".md") else link


def anchor(text):
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def blocks(source):
    """(kind, lines): heading, code, table, list or text."""
    found, inside = [], None
    for line in source.split("\n"):
        if inside is not None:
            if line == "```":
                found.append(("code", inside))
                inside = None
            else:
                inside.append(line)
            continue
        kind = ("code" if line.startswith("```") else "heading" if line.startswith("#") else
                "table" if line.startswith("|") else "list" if line.startswith("- ") else "steps" if re.match(r"\d+\. ", line) else
                "text" if line.strip() and not line.startswith("<!--") else "")
        if kind == "code":
            inside = []
        elif kind == "text" and found and found[-1][0] in ("text", "list", "steps") and found[-1][1]:
            found[-1][1][-1] += " " + line.strip()
        elif kind == "":
            found.append(("", []))
        elif found and found[-1][0] == kind and kind != "heading":
            found[-1][1].append(line)
        else:
            found.append((kind, [line]))
    return [block for block in found if block[1]]


def cells(row):
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip("|"))]


def to_html(source, code, program):
    """code, program: functions that make HTML of code in a line, and of lines of a program."""
    out = []
    for kind, lines in blocks(source):
        if kind == "heading":
            level, text = re.match(r"(#+) (.*)", lines[0]).groups()
            name = f' id="{anchor(text)}"' if len(level) > 1 else ""
            out.append(f"<h{len(level)}{name}>{inline(text, code)}</h{len(level)}>")
        elif kind == "code":
            out.append(program("\n".join(lines).rstrip()))
        elif kind == "list":
            out.append("<ul>" + "".join(f"<li>{inline(line[2:], code)}</li>" for line in lines) + "</ul>")
        elif kind == "steps":
            out.append("<ol>" + "".join(f"<li>{inline(line.partition(' ')[2], code)}</li>" for line in lines) + "</ol>")
        elif kind == "text":
            out.append(f"<p>{inline(lines[0], code)}</p>")
        else:
            head, _, *rows = [[inline(cell, code) for cell in cells(line)] for line in lines]
            out.append('<div class="wide"><table><thead><tr>' + "".join(f"<th>{cell}</th>" for cell in head) +
                       "</tr></thead><tbody>" +
                       "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows) +
                       "</tbody></table></div>")
    return "\n".join(out)
