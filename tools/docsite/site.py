# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site: pages are read, follow each other's links, and are written with one template."""

import html
import json
import pathlib
import re
import shutil
import string
import tempfile

from docsite import guides, index, manuals
from docsite.body import Body
from docsite.groups import GROUPS, SOURCES, in_order
from docsite.links import Links

HERE = pathlib.Path(__file__).parent
START = "index.html"
COPIED = (".svg", ".png")
COLOURS_END = "\n*, *::before"  # in the style of the welcome site


class Page:
    def __init__(self, path, file, group, address):
        self.path, self.file, self.group, self.address = path, file, group, address
        self.body = None


def address_of_page(path):
    """docs/web.md is at web.html, docs/man/monkey.8 at man/monkey.8.html, and README.md of a folder is its first page."""
    if "/" not in path:
        return f"{path.removesuffix('.md').lower()}.html"
    inside = path.removeprefix("docs/").removesuffix(".md")
    return f"{inside.removesuffix('README')}{START}" if inside.endswith("/README") else f"{inside}.html"


class Site:
    def __init__(self, tree):
        self.tree = tree
        self.faults = []
        self.pages = {}  # by path in the tree, in the order of the site
        self.copies = {}  # address -> file
        with tempfile.TemporaryDirectory() as folder:
            found, lost = in_order(tree, pathlib.Path(folder))
            self.faults += [f"{path}: is in no group of tools/docsite/groups.py" for path in lost]
            for path, file, group in found:
                self.pages[path] = Page(path, file, group, address_of_page(path))
            self.manuals = {manuals.name_of(page.file): page for page in self.pages.values() if page.file.suffix != ".md"}
            self.read_pages()

    # -- reading

    def address_of(self, path, asker):
        """Where a file of the tree is on the site, which it joins if it has to; None: a folder, or nothing."""
        if path in self.pages:
            return self.pages[path].address
        file = self.tree / path
        if file.is_dir():
            return None
        if path.startswith("..") or not file.is_file():
            self.faults.append(f"{asker.path}: there is no {path}")
            return None
        if file.suffix in COPIED:
            self.copies[f"files/{path}"] = file
            return f"files/{path}"
        self.pages[path] = Page(path, file, SOURCES, f"sources/{path}.html")
        return self.pages[path].address

    def read_pages(self):
        """Each page may bring others, which wait at the end."""
        done = 0
        while done < len(self.pages):
            page = list(self.pages.values())[done]
            page.body = self.read(page)
            done += 1

    def read(self, page):
        links = Links(self, page)
        if page.file.suffix == ".md":
            return guides.render(page.file.read_text(), links)
        if page.file.suffix[1:].isdigit():
            return manuals.render(page.file, links)
        return Body(page.path, "", f"<h1>{page.path}</h1>\n<pre><code>{html.escape(page.file.read_text(), quote=False)}</code></pre>", [])

    # -- parts of a page

    def of_group(self, group):
        return [page for page in self.pages.values() if page.group is group]

    def list_of(self, group, page, links):
        here = ' aria-current="page"'
        lines = [f'<li><a href="{links.relative(other.address)}"{here if other is page else ""}>{html.escape(other.body.title)}</a></li>'
                 for other in self.of_group(group)]
        return "<ul>\n" + "\n".join(lines) + "\n</ul>"

    def navigation(self, page, links):
        """All groups, with the pages of that of the page."""
        for group in GROUPS:
            if not self.of_group(group):
                continue
            yield f'<h2><a href="{links.relative(START)}#{group.name}">{html.escape(group.title)}</a></h2>'
            if group is page.group:
                yield self.list_of(group, page, links)

    @staticmethod
    def contents(body):
        """Of the headings that a reader chooses from."""
        headings = [heading for heading in body.headings if heading.level <= 3]
        if len(headings) < 3:
            return ""
        lines = [f'<li class="level{heading.level}"><a href="#{html.escape(heading.name)}">{html.escape(heading.text)}</a></li>'
                 for heading in headings]
        return '<nav class="toc" aria-label="On this page">\n<p>On this page</p>\n<ul>\n' + "\n".join(lines) + "\n</ul>\n</nav>"

    def start_page(self):
        """The groups, each page with its sentence."""
        parts = ["<h1>Monkey: documentation</h1>", f'<p class="lead">{html.escape(self.pages["README.md"].body.summary)}</p>']
        for group in GROUPS:
            rows = [f'<dt><a href="{page.address}">{html.escape(page.body.title)}</a></dt><dd>{html.escape(page.body.summary)}</dd>'
                    for page in self.of_group(group)]
            if rows:
                parts += [f'<h2 id="{group.name}">{html.escape(group.title)}</h2>', '<dl class="list">', *rows, "</dl>"]
        page = Page("", None, GROUPS[0], START)
        page.body = Body("Documentation", "", "\n".join(parts), [])
        return page

    # -- writing

    def write(self, folder):
        template = string.Template((HERE / "page.html").read_text())
        for page in [self.start_page(), *self.pages.values()]:
            links = Links(self, page)
            target = folder / page.address
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(template.substitute(
                title=html.escape(f"{page.body.title} - {page.group.title} - Monkey"), root=links.relative(".").rstrip("/") + "/",
                contents=self.contents(page.body), body=page.body.html, pages="\n".join(self.navigation(page, links)),
                description=html.escape(page.body.summary)))
        self.write_files(folder)

    def write_files(self, folder):
        welcome = self.tree / "htdocs"
        colours, end, _ = (welcome / "style.css").read_text().partition(COLOURS_END)
        if not end:
            self.faults.append("htdocs/style.css: its colours do not end where tools/docsite/site.py looks for their end")
        (folder / "style.css").write_text(colours + "\n" + (HERE / "style.css").read_text())
        shutil.copy(HERE / "search.js", folder)
        shutil.copy(welcome / "monkey.svg", folder)
        searched = [page for page in self.pages.values() if page.group is not SOURCES]
        (folder / "search.json").write_text(json.dumps(index.make(searched), separators=(",", ":")))
        for address, file in self.copies.items():
            (folder / address).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, folder / address)
