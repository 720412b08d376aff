# SPDX-License-Identifier: Apache-2.0
"""Listings when something fails: each allocation, the pool, a reload and a stop meanwhile. Never a crash, nothing left behind."""

import itertools
import re

import pytest

from harness import http, process
from harness.client import eventually
from harness.config import section

pytestmark = [pytest.mark.slow, pytest.mark.limit(300)]

LOAD = {"plugins.load": section("PLUGINS", f"Load {process.plugin('dirlisting')}"),
        "plugins/dirlisting/dirhtml.conf": section("DIRLISTING", "Listing on")}
FILES = {"small/a": "a", "small/b/c": "", **{f"medium/{number:0100}": "" for number in range(400)}}
FORMS = {"html": {}, "json": {"Accept": "application/json"}}
ENTRY = re.compile(r"""<tr class="(?:file|directory)"|^{"name":""", re.M)


def count(response):
    return len(ENTRY.findall(response.text))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("directory, entries", [("small", 2), ("medium", 400)])
def test_each_allocation_fails(start, allocations, directory, entries, form):
    """An answer that is whole, an error, or one that breaks off; the next is whole again."""
    server = start(server="Workers 1", files=FILES, extra=LOAD, env=allocations.environment)
    data = http.request(f"/{directory}/", headers={"Connection": "close", **FORMS[form]})
    whole = 0
    for number in itertools.count(1):
        allocations.arm(number)
        answer = server.raw_until_cut(data)
        failed = allocations.failed
        allocations.disarm()
        assert server.is_running(), f"allocation {number}\n{server.log()}"
        if answer and not http.is_cut_off(answer):
            response = http.parse_one(answer)
            assert response.status in (200, 500, 503), f"allocation {number}: {response}"
            if response.status == 200:
                assert count(response) == entries, f"allocation {number}"
                whole += 1
        if not failed:
            break
    assert number > 3, "hardly any allocation was seen"
    assert whole > 0
    assert count(http.parse_one(server.raw(data))) == entries


def test_a_reload_meanwhile(start):
    """What began with the old configuration ends with it."""
    theme = {f"plugins/dirlisting/themes/mine/{part}.theme": f"{part}\n" for part in ("header", "entry", "footer")}
    conf = {**LOAD, **theme, "plugins/dirlisting/dirhtml.conf": section("DIRLISTING", "Theme mine\nListing on")}
    server = start(server="Workers 2", files=FILES, extra=conf)
    with server.connect(receive_buffer=4096) as slow:
        slow.send(http.request("/medium/") * 20)
        first = slow.response()
        (server.conf / "plugins/dirlisting/themes/mine/entry.theme").write_text("another\n")
        server.reload()
        others = slow.responses(*["GET"] * 19)
    for answer in (first, *others):
        lines = answer.text.splitlines()
        assert lines in (["header"] + ["entry"] * 400 + ["footer"], ["header"] + ["another"] * 400 + ["footer"])
    assert server.get("/small/").text == "header\nanother\nanother\nfooter\n"


def test_reloads_while_many_list(start):
    server = start(server="Workers 2", files=FILES, extra=LOAD)
    data = http.request("/medium/")
    for _ in range(10):
        connections = [server.connect() for _ in range(20)]
        for connection in connections:
            connection.send(data)
        server.reload()
        for number, connection in enumerate(connections):
            if number % 3 == 0:
                connection.reset()
            else:
                assert "400 files" in connection.response().text
                connection.close()
    assert "1 directory, 1 file" in server.get("/small/").text


@pytest.mark.parametrize("grace", ["0", "5"])
def test_a_stop_while_many_list(start, grace):
    """The server ends cleanly, whatever its pool still reads."""
    server = start(server=f"Workers 2\nGracefulTimeout {grace}", files=FILES, extra=LOAD)
    connections = [server.connect() for _ in range(50)]
    for connection in connections:
        connection.send(http.request("/medium/", headers={"Connection": "close"}))
    server.stop()
    for connection in connections:
        connection.close()


def test_more_at_once_than_the_pool_takes(start):
    """Everybody gets every entry, sorted or not."""
    server = start(server="Workers 2", files=FILES, extra=LOAD)
    assert count(server.get("/medium/")) == 400
    before = server.open_descriptors()
    connections = [server.connect() for _ in range(300)]
    for connection in connections:
        connection.send(http.request("/medium/", headers=FORMS["json"]))
    for connection in connections:
        assert count(connection.response()) == 400
    for connection in connections:
        connection.close()
    assert eventually(lambda: server.open_descriptors() <= before + 1)  # the other worker opened the document root
