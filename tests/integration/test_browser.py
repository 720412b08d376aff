# SPDX-License-Identifier: Apache-2.0
"""Chromium shows the welcome page: complete, without an error, and with nothing from elsewhere."""

import re

import pytest

from harness import browser, process

pytestmark = pytest.mark.once("a page in a browser")

HTDOCS = process.TREE / "htdocs"


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(host=f"DocumentRoot {HTDOCS}", extra={"monkey.mime": (process.TREE / "conf/monkey.mime").read_text()})


def url_of(server):
    return f"http://127.0.0.1:{server.port}/"


def test_screenshot_of_the_welcome_page(server, tmp_path):
    picture = browser.screenshot(tmp_path, url_of(server), "welcome", 1280, 900)
    assert picture.size == (1280, 900)
    assert picture.bytes > 10_000, "the page is nearly empty"


def test_the_page_is_understood(server, tmp_path):
    document = browser.document(tmp_path, url_of(server))
    assert re.search(r"<title>[^<]*Monkey[^<]*</title>", document)
    assert document.rstrip().endswith("</html>")


def test_the_page_needs_nothing_from_elsewhere():
    """A machine that was just installed may have no network."""
    for page in HTDOCS.rglob("*"):
        if page.suffix in (".html", ".css", ".svg", ".js"):
            text = page.read_text()
            assert not re.search(r"""(src|srcset)\s*=\s*["']?(https?:)?//""", text), page
            assert not re.search(r"""<link[^>]+href\s*=\s*["']?(https?:)?//""", text), page
            assert not re.search(r"""(url\(|@import)\s*["']?(https?:)?//""", text), page


def test_everything_that_the_page_names_is_there(server):
    page = server.get("/").text
    for name in re.findall(r"""(?:src|href)=["']([^"'#]+)["']""", page):
        if not re.match(r"(https?|data|mailto):", name):
            assert server.get("/" + name.lstrip("/")).status == 200, name
