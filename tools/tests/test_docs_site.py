# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site: every page is made and whole, and a fault of it is noticed."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "tools"))

from docsite import groups, guides, manuals, site as docs_site  # noqa: E402  behind the path that finds it
from docsite.check import check  # noqa: E402
from docsite.html_page import HtmlPage  # noqa: E402


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site of this tree; writing it is the test that all its pages are well."""
    folder = tmp_path_factory.mktemp("site") / "docs"
    done = subprocess.run([TREE / "tools" / "docs_site", folder], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.fixture(scope="module")
def found(site):
    return json.loads((site / "search.json").read_text())


def page_of(site, address):
    return (site / address).read_text()


# ---- the site of this tree ----

def test_every_document_has_a_page(site):
    names = ["README.md", "CHANGELOG.md", *(path.relative_to(TREE).as_posix() for path in (TREE / "docs").rglob("*.md")),
             *(f"docs/man/{path.name}" for path in (TREE / "docs" / "man").glob("*.[1-9]"))]
    assert [name for name in names if not (site / docs_site.address_of_page(name)).is_file()] == []


def test_titles_are_unique(site):
    titles = [HtmlPage(path.read_text()).title for path in site.rglob("*.html")]
    assert len(titles) > 100
    assert len(set(titles)) == len(titles)


def test_a_page_has_its_group_and_the_places_on_it(site):
    page = page_of(site, "man/monkey.conf.5.html")
    assert '<a href="../index.html#server">Server</a>' in page
    assert 'aria-current="page">monkey.conf(5)</a>' in page
    assert re.search(r'<nav class="toc".*<a href="#[^"]+">WHICH LIMIT FOR WHAT</a>', page, re.S)


def test_names_of_manual_pages_are_links(site):
    assert re.search(r'<a href="monkey-cgi.5.html"><b>monkey-cgi</b>\(5\)</a>', page_of(site, "man/monkey.conf.5.html"))
    assert re.search(r'<a href="monkey.conf.5.html">monkey.conf\(5\)</a>', page_of(site, "man/monkey.8.html"))
    assert '<a href="../man/dudac.1.html">dudac(1)</a>' in page_of(site, "duda/index.html")


def test_sources_that_pages_name_are_pages(site):
    assert '<a href="sources/examples/embed/hello.c.html">hello.c</a>' in page_of(site, "web.html")
    assert "&lt;monkey/web.h&gt;" in page_of(site, "sources/examples/embed/hello.c.html")


def test_the_first_page_has_every_group(site):
    page = page_of(site, "index.html")
    assert [group.name for group in groups.GROUPS if f'<h2 id="{group.name}">' not in page] == []
    assert '<dt><a href="man/monkey-file.5.html">monkey-file(5)</a></dt><dd>Files beside an application' in page


@pytest.mark.parametrize("term, address", [
    ("KeepAliveTimeout", "man/monkey.conf.5.html"), ("mk_reply_bytes", "man/monkey-request.3.html"), ("json->parse", "duda/api/json.html"),
    ("WebSocket", "web.html"),
])
def test_a_search_finds(found, term, address):
    by_places = {found["pages"][page][1] for text, page, *_ in found["headings"] if term in text}
    by_words = {found["pages"][page][1] for words, pages in found["words"] if term.lower() in words.split() for page in pages}
    assert address in by_places | by_words


def test_the_script_is_short():
    assert len((TREE / "tools" / "docsite" / "search.js").read_text().splitlines()) <= 60


def test_a_configuration_serves_it_beside_the_tree_s_own(site):
    text = (site.parent / "docs.conf").read_text()
    assert f"    Alias /docs {site}\n@INCLUDE {TREE}/conf/monkey.conf\n" in text


def test_another_folder_is_not_removed(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "precious").write_text("kept")
    done = subprocess.run([TREE / "tools" / "docs_site", tmp_path / "work"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "has other files" in done.stderr
    assert (tmp_path / "work" / "precious").read_text() == "kept"


# ---- pages of Markdown ----

class Links:
    """Of a page that knows one other, and one manual page."""

    def of(self, reference):
        return {"other.md": "other.html", "#here": "#here"}.get(reference)

    def of_file(self, name):
        return {"docs/other.md": "other.html"}.get(name)

    def in_text(self, text):
        return text.replace("monkey(8)", '<a href="monkey.8.html">monkey(8)</a>')


@pytest.mark.parametrize("text, shown", [
    ("[it](other.md)", '<a href="other.html">it</a>'),
    ("[it](#here)", '<a href="#here">it</a>'),
    ("[a folder](../src)", "<span>a folder</span>"),
    ("see `docs/other.md`", '<a href="other.html"><code>docs/other.md</code></a>'),
    ("`<b>`", "<code>&lt;b&gt;</code>"),
    ("see monkey(8)", '<a href="monkey.8.html">monkey(8)</a>'),
    ("[monkey(8)](other.md)", '<a href="other.html">monkey(8)</a>'),
    ("    monkey(8)", "<code>monkey(8)\n</code>"),
    ("## What is `it`, then?", '<h2 id="what-is-it-then">'),
    ("## a\n\n## a", '<h2 id="a-1">'),
    ("| a |\n|---|\n| `x\\|y` |", "<td><code>x|y</code></td>"),
    ("<!-- a note -->", ""),
])
def test_markdown(text, shown):
    body = guides.render(f"# Title\n\nFirst. Second.\n\n{text}\n", Links())
    assert shown in body.html
    assert "a note" not in body.html
    assert (body.title, body.summary) == ("Title", "First.")


def test_a_prototype_is_listed_by_its_name():
    body = guides.render("# json\n\n### `int json->parse(const char *text)`\n", Links())
    assert [(heading.name, heading.text) for heading in body.headings] == [("json-parse", "json->parse")]


# ---- manual pages ----

PAGES = {
    "x.5": (".TH X 5\n.SH NAME\nx \\- of one file\n.SH KEYS\n.TP\n.B Key\nSee\n.BR monkey (8)\nand\n.BR other (5).\n", "KEYS"),
    "y.1": (".Dd November 1, 2026\n.Dt Y 1\n.Os\n.Sh NAME\n.Nm y\n.Nd of one file\n.Sh KEYS\n.Bl -tag -width x\n.It Ic Key\nSee\n.Xr monkey 8\nand\n"
            ".Xr other 5 .\n.El\n", "KEYS"),
}


class Manuals:
    def of_manual(self, name):
        return {"monkey(8)": "monkey.8.html"}.get(name)


@pytest.mark.parametrize("name", PAGES)
def test_a_manual_page(tmp_path, name):
    file = tmp_path / name
    text, heading = PAGES[name]
    file.write_text(text)
    body = manuals.render(file, Manuals())
    assert (body.title, body.summary) == (f"{name[0]}({name[2]})", "Of one file")
    assert heading in [found.text for found in body.headings]
    assert "Key" in [text for _, text in body.terms]
    assert re.search(r'<a href="monkey.8.html">(<b>)?monkey(</b>)?\(8\)</a>', body.html)
    assert not re.search(r"<a[^>]*>(<b>)?other", body.html)
    assert body.html.count("<h1>") == 1
    assert "November" not in body.html


def test_an_example_keeps_its_lines(tmp_path):
    file = tmp_path / "x.5"
    file.write_text(".TH X 5\n.SH NAME\nx \\- y\n.SH SITE\n.nf\n[HOST]\n    Key value\n\n[HOST]\n.fi\n")
    assert "<pre>[HOST]\n    Key value\n\n[HOST]</pre>" in manuals.render(file, Manuals()).html


# ---- what the check notices ----

PAGE = """<!DOCTYPE html>
<html lang="en"><head><title>{title}</title><link rel="stylesheet" href="style.css"></head>
<body><p id="a">{body}</p></body></html>
"""


def written(folder, **bodies):
    (folder / "style.css").write_text("a { color: red }\n")
    for name, body in bodies.items():
        (folder / f"{name}.html").write_text(PAGE.format(title=name, body=body))
    return folder


def test_a_good_site_has_no_fault(tmp_path):
    assert list(check(written(tmp_path, one='<a href="two.html#a">two</a> <a href="#a">a</a> <a href="https://example.org/">x</a>', two=""))) == []


@pytest.mark.parametrize("body, told", [
    ('<a href="three.html">x</a>', "one.html: there is no three.html"),
    ('<a href="two.html#b">x</a>', "one.html: there is no id for two.html#b"),
    ('<a href="#b">x</a>', "one.html: there is no id for #b"),
    ('<a href="../two.html">x</a>', "one.html: there is no ../two.html"),
    ('<img src="https://example.org/x.png" alt="">', "is from elsewhere"),
    ('<img src="//example.org/x.png" alt="">', "is from elsewhere"),
    ("<b>", "closes nothing"),
    ('<a href="#a"><a href="#a">x</a></a>', "is in another"),
    ('<i id="a"></i>', 'id "a" appears twice'),
    ("x" * 300_000, "more than"),
])
def test_a_fault_is_told(tmp_path, body, told):
    assert any(told in fault for fault in check(written(tmp_path, one=body, two="")))


def test_two_pages_with_one_title_are_told(tmp_path):
    written(tmp_path, one="", two="")
    (tmp_path / "two.html").write_text(PAGE.format(title="one", body=""))
    assert list(check(tmp_path)) == ["two.html: has the title of one.html, 'one'"]


def test_a_style_that_takes_in_something_is_told(tmp_path):
    written(tmp_path, one="")
    (tmp_path / "style.css").write_text('@import "https://example.org/x.css";\n')
    assert list(check(tmp_path)) == ["style.css: takes in something else"]
