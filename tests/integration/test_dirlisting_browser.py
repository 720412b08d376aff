# SPDX-License-Identifier: Apache-2.0
"""Chromium shows listings: on a phone and on a desk, in the light and in the dark, and runs nothing that a name says."""

import re

import pytest

from harness import browser, process
from harness.config import section

pytestmark = pytest.mark.once("a page in a browser")

NAMES = ["<script>document.title='hacked'<", '"onmouseover="alert(1)', "x" * 255, "-rf", "new\nline", "Photos of 2026.zip", "README.md",
         "<img src=x onerror=document.title='hacked'>", "a name of some length with blanks.txt", "100%.txt"]

# Measures the listing in a frame as wide as a small phone.
PROBE = """<!DOCTYPE html><title>waits</title><iframe width=320 height=600 src="/list/sub/"></iframe><script>
addEventListener("load", () => {
  const page = document.querySelector("iframe").contentDocument
  const links = [...page.querySelectorAll("td a")].filter(link => link.offsetParent)
  document.title = `width=${page.documentElement.scrollWidth} links=${links.length} ` +
    `lowest=${Math.min(...links.map(link => link.offsetHeight))} head=${page.querySelector("th[aria-sort=ascending]").textContent}`
})
</script>"""


@pytest.fixture(scope="module")
def server(start_shared):
    files = {f"list/sub/{name}": "x" * 3 ** number for number, name in enumerate(NAMES)}
    return start_shared(files={"list/sub/directory/x": "", "probe.html": PROBE, **files},
                        site=section("DIRLISTING", "Listing on"),
                        extra={"plugins.load": section("PLUGINS", f"Load {process.plugin('dirlisting')}")})


def url_of(server, path="/list/sub/"):
    return f"http://127.0.0.1:{server.port}{path}"


@pytest.mark.parametrize("name, width, height, scale", [("phone", 390, 844, 2), ("desk", 1280, 900, 1)])
@pytest.mark.parametrize("dark, paper", [(False, (251, 248, 241)), (True, (24, 21, 18))], ids=["light", "dark"])
def test_screenshots(server, tmp_path, name, width, height, scale, dark, paper):
    picture = browser.screenshot(tmp_path, url_of(server), f"listing-{name}-{'dark' if dark else 'light'}", width, height, dark, scale)
    assert picture.size == (width * scale, height * scale)
    assert picture.corner == paper
    assert picture.bytes > 10_000, "the page is nearly empty"


def test_names_run_nothing(server, tmp_path):
    document = browser.document(tmp_path, url_of(server))
    assert "<title>Index of /list/sub/</title>" in document
    assert not re.search(r"<(script|img)\b", document)
    assert len(re.findall(r'<tr class="(?:file|directory)"', document)) == len(NAMES) + 1


def test_it_fits_a_small_phone(server, tmp_path):
    """Nothing sticks out at the side, and every link is high enough for a finger."""
    document = browser.document(tmp_path, url_of(server, "/probe.html"))
    found = re.search(r"<title>width=(\d+) links=(\d+) lowest=(\d+) head=Name</title>", document)
    assert found, document[:300]
    width, links, lowest = map(int, found.groups())
    assert width <= 320
    assert links == len(NAMES) + 2  # the directory and its parent
    assert lowest >= 44
