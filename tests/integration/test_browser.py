# SPDX-License-Identifier: Apache-2.0
"""Chromium shows the welcome page: complete, without an error, and with nothing from elsewhere."""

import os
import pathlib
import re
import shutil
import struct
import subprocess

import pytest

from harness import process, tools

HTDOCS = process.TREE / "htdocs"


@pytest.fixture(scope="module")
def server(start_shared):
    return start_shared(host=f"DocumentRoot {HTDOCS}", extra={"monkey.mime": (process.TREE / "conf/monkey.mime").read_text()})


def chromium(profile, *words):
    """Run it to its end; it is ended with everything that it started when it hangs."""
    browser = subprocess.Popen(
        [tools.require("chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
         f"--user-data-dir={profile}", *map(str, words)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = browser.communicate(timeout=50)
    except subprocess.TimeoutExpired:
        os.killpg(browser.pid, 9)
        browser.communicate()
        raise AssertionError("chromium does not end") from None
    assert browser.returncode == 0, err.decode(errors="replace")
    return out.decode(errors="replace")


def png_size(path):
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack("!II", data[16:24])


def test_screenshot_of_the_welcome_page(server, tmp_path):
    """Saved where MK_ARTIFACTS says, for people to look at."""
    shot = tmp_path / "welcome.png"
    chromium(tmp_path / "profile", f"--screenshot={shot}", "--window-size=1280,900", f"http://127.0.0.1:{server.port}/")
    assert png_size(shot) == (1280, 900)
    assert shot.stat().st_size > 10_000, "the page is nearly empty"
    if os.environ.get("MK_ARTIFACTS"):
        folder = pathlib.Path(os.environ["MK_ARTIFACTS"])
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(shot, folder / "welcome.png")


def test_the_page_is_understood(server, tmp_path):
    document = chromium(tmp_path / "profile", "--dump-dom", f"http://127.0.0.1:{server.port}/")
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
