# SPDX-License-Identifier: Apache-2.0
"""The documentation as `make docs` writes it and `make run` serves it: pages that fit, and a search without anything from elsewhere."""

import re
import subprocess

import pytest

from harness import process
from harness.tab import Tab

pytestmark = pytest.mark.once("a page in a browser")

PAGES = ("index.html", "man/monkey.conf.5.html", "benchmarks.html", "duda/api/json.html", "man/monkey-web.3.html", "sources/examples/embed/hello.c.html")
PAPERS = {False: (243, 237, 223), True: (31, 27, 23)}  # of the top, in the light and in the dark


@pytest.fixture(scope="module")
def docs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs") / "docs"
    subprocess.run([process.TREE / "tools" / "docs_site", folder], check=True, timeout=120)
    return folder


@pytest.fixture(scope="module")
def server(start_shared, docs):
    plugin = process.plugin("file")
    return start_shared(site=f"[FILE]\n    Alias /docs {docs}\n",
                        extra={"plugins.load": f"[PLUGINS]\n    Load {plugin}\n",
                               "monkey.mime": (process.TREE / "conf" / "monkey.mime").read_text()})


def url_of(server, path):
    return f"http://127.0.0.1:{server.port}{path}"


def test_the_written_configuration_is_well(docs):
    done = process.run("--configdir", process.TREE / "conf", "--serverconf", docs.parent / "docs.conf", "--test")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_folder_is_its_first_page(server):
    answer = server.get("/docs")
    assert (answer.status, answer.header("Location")) == (301, "/docs/")
    assert "<h1>Monkey: documentation</h1>" in server.get("/docs/").text
    assert server.get("/docs/search.json").header("Content-Type").startswith("application/json")


@pytest.mark.parametrize("name, width, height", [("phone", 360, 780), ("desk", 1400, 900)])
def test_pages_fit_and_follow_the_reader_s_colours(server, tmp_path, name, width, height):
    with Tab(tmp_path, width, height) as tab:
        for page in PAGES:
            tab.visit(url_of(server, f"/docs/{page}"))
            assert tab.value("document.documentElement.scrollWidth") == width, page
            for dark, paper in PAPERS.items():
                picture = tab.picture(f"docs-{name}-{re.sub('[^a-z0-9]', '-', page)}", dark)
                assert (picture.size, picture.corner) == ((width, height), paper)


def test_a_search_leads_to_a_place(server, tmp_path):
    with Tab(tmp_path, 1200, 800) as tab:
        tab.visit(url_of(server, "/docs/web.html"))
        tab.until("!document.querySelector('form.search').hidden")
        tab.value("""(() => { const field = document.querySelector("input[name=q]"); field.value = "keepalivetimeout";
                      field.dispatchEvent(new Event("input")) })()""")
        tab.until("document.querySelectorAll('form.search li').length > 0")
        assert "monkey.conf(5)" in tab.value("document.querySelector('form.search li').textContent")
        tab.picture("docs-search")
        tab.value("document.querySelector('form.search').requestSubmit()")
        tab.until("location.pathname == '/docs/man/monkey.conf.5.html' && document.readyState == 'complete'")
        tab.until("document.querySelector(':target') != null")
