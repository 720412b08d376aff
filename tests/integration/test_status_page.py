# SPDX-License-Identifier: Apache-2.0
"""The overview of the plugin status in a browser: on a desk and in a hand, by day and by night."""

import re

import pytest

from harness import browser, certificates, process, secured
from harness.backend import backends, servers
from harness.config import section

pytestmark = pytest.mark.once("a page in a browser")


def started(start, two):
    load = "".join(f"Load {process.plugin(name)}\n" for name in ("proxy_reverse", "status"))
    server = start(server="Workers 2", files={"a.txt": "a" * 5000},
                   sites={"b": "[HOST]\n    ServerName b.example\n    DocumentRoot /tmp\n"},
                   extra={"plugins.load": section("PLUGINS", load), "plugins/status/status.conf": section("STATUS", ""),
                          "plugins/proxy_reverse/proxy_reverse.conf": section(
                              "PROXY_ENTRY", f"Name sh<b>op\nMatch ^/shop\n{servers(two)}")})
    for _ in range(20):
        assert server.get("/a.txt").status == 200
        assert server.get("/shop").status == 200
    assert server.get("/none").status == 404
    return server


@pytest.mark.parametrize("name, size, dark", [
    ("desk", (1280, 1100), False), ("desk_dark", (1280, 1100), True), ("phone", (500, 1000), False),
    ("phone_dark", (500, 1000), True),
])
def test_it_looks_like_something(start, tmp_path, name, size, dark):
    with backends(2) as two:
        server = started(start, two)
        picture = browser.screenshot(tmp_path, f"http://127.0.0.1:{server.port}/status", f"status_{name}", *size, dark=dark)
        assert picture.size == size and picture.bytes > 8000
        assert (sum(picture.corner) < 3 * 0x40) == dark


def test_numbers_come_and_go_on(start, tmp_path):
    """The browser's time runs ahead, so that several turns of a second are in it."""
    with backends(2) as two:
        server = started(start, two)
        text = browser.document(tmp_path, f"http://127.0.0.1:{server.port}/status")
        assert "connecting" not in text and re.search(r"Monkey \d[^<]*, up 0:00:0", text)
        rows = re.findall(r"<tr>(.*?)</tr>", text)
        cells = [re.findall(r"<t[hd]>(?:<b[^>]*>)?([^<]*)", row) for row in rows]
        assert [int(row[1]) for row in cells if row[0] == "default"][0] >= 41
        assert sorted("sh&lt;b&gt;op " + backend.address for backend in two) == [row[0] for row in cells if row[0].startswith("sh&lt;b&gt;op ")]
        assert [row[1] for row in cells if row[0].startswith("sh&lt;b&gt;op ")] == ["up", "up"]
        assert "<b>op" not in text
        assert len(re.search(r'<polyline points="([^"]*)"', text)[1].split()) >= 3


@pytest.mark.parametrize("plugin", ["tls", "mbedtls"])
def test_certificates_are_shown_with_their_ends(start, tmp_path, plugin):
    if not process.plugin(plugin):
        pytest.skip("this build has no such plugin")
    bad = certificates.expired("a.test")
    config = secured.config(certificates.issue("d.test").lines(), plugin=plugin, server="Listen 127.0.0.1:0",
                            sites={"a": secured.site("a.test", bad.lines(), tmp_path)})
    config["extra"]["plugins.load"] += f"    Load {process.plugin('status')}\n"
    config["extra"]["plugins/status/status.conf"] = section("STATUS", "")
    server = start(**config)
    text = browser.document(tmp_path, f"http://{server.addresses[1]}/status")
    cells = [re.findall(r"<td>(?:<[^>]*>)?([^<]*)", row) for row in re.findall(r"<tr>(.*?)</tr>", text)]
    ends = [row for row in cells if row and row[0].endswith(".pem")]
    assert ends[0] == [str(bad.certificate), "a.test", "2020-02-01", "expired"]
    assert len(ends) == 2 and int(ends[1][3].replace(",", "")) > 0


def test_the_page_says_when_there_are_no_numbers(start, tmp_path):
    load = section("PLUGINS", f"Load {process.plugin('status')}")
    server = start(handlers="", extra={"plugins.load": load, "plugins/status/status.conf": section("STATUS", "Allow 127.0.0.1")})
    page, script = server.get("/status").body, server.get("/status?script").body
    (server.config.root / "x.html").write_bytes(page.replace(b"?script", b"/x.js"))
    (server.config.root / "x.js").write_bytes(script.replace(b"?format=json", b"/nowhere"))
    text = browser.document(tmp_path, f"http://127.0.0.1:{server.port}/x.html")
    assert "no numbers: answer 404" in text
