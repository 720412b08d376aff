# SPDX-License-Identifier: Apache-2.0
"""`Listen` of a site: addresses at which it alone answers, and the only ones at which it does."""

import functools
import re

import pytest

from harness import process
from harness.client import free_port, free_ports
from harness.config import Config, section
from harness.http2 import Frames
from harness.variants import SCHEDULERS

SERVER = "Listen 127.0.0.1:0"


@pytest.fixture
def site(tmp_path):
    """site(name, lines, more) -> the text of a site whose folder has a.txt with its name."""
    def of(name, lines="", more=""):
        folder = tmp_path / "sites of" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "a.txt").write_text(name)
        return section("HOST", f"ServerName {name}\nDocumentRoot {folder}\n{lines}") + more
    return of


@pytest.fixture
def check(tmp_path):
    """check(...) writes a configuration and returns what --test says of it."""
    return functools.partial(process.said_of, tmp_path)


def ask(server, port, host, target="/a.txt", address="127.0.0.1"):
    with server.connect((address, port)) as connection:
        return connection.request(target, host=host)


def wait(server, port):
    server.wait_for_log(rf"listening address=\S*:{port}\n")


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_it_alone_answers_there_and_nowhere_else(start, site, scheduler):
    port = free_port()
    server = start(server=f"Scheduler {scheduler}\n{SERVER}", files={"a.txt": "default"},
                   sites={"admin": site("admin.test", f"Listen 127.0.0.1:{port}"), "other": site("other.test")})
    wait(server, port)
    for host in ("admin.test", "other.test", "localhost", "default", "127.0.0.1:1"):
        assert ask(server, port, host).text == "admin.test"
    for host, text in (("admin.test", "default"), ("other.test", "other.test"), ("localhost", "default")):
        assert ask(server, server.port, host).text == text


def test_locations_handlers_and_errors_are_the_sites(start, site):
    port = free_port()
    more = "[LOCATION]\n    Path /in\n    Header X-Place in\n[HANDLERS]\n    Match ^/echo echo\n[ERROR_PAGES]\n    404 /a.txt\n"
    server = start(server=SERVER, files={"a.txt": "default"}, sites={"admin": site("admin.test", f"Listen 127.0.0.1:{port}", more)})
    wait(server, port)
    assert ask(server, port, "x", "/in/x").header("X-Place") == "in"
    assert ask(server, port, "x", "/echo").status == 200
    assert ask(server, port, "x", "/none").text == "admin.test"
    with server.connect(("127.0.0.1", port)) as connection:  # what names no host, and what is refused
        connection.send(b"GET /none HTTP/1.0\r\n\r\n")
        assert connection.response().text == "admin.test"
    assert ask(server, server.port, "x", "/echo").status == 404


def test_the_first_site_without_addresses_is_the_default(start, site):
    port = free_port()
    server = start(server=SERVER, host=f"Listen 127.0.0.1:{port}", files={"a.txt": "first"},
                   sites={"b": site("b.test"), "c": site("c.test")})
    wait(server, port)
    assert ask(server, port, "c.test").text == "first"
    general = next(int(address.rpartition(":")[2]) for address in server.addresses if not address.endswith(f":{port}"))
    assert [ask(server, general, host).text for host in ("nobody", "b.test", "c.test")] == ["b.test", "b.test", "c.test"]


def test_a_narrow_address_beside_a_wide_one(start, site):
    port = free_port()
    server = start(server=f"Listen {port}", files={"a.txt": "default"}, sites={"admin": site("admin.test", f"Listen 127.0.0.2:{port}")})
    server.wait_for_log(rf"listening address=127\.0\.0\.2:{port}\n")
    assert ask(server, port, "admin.test").text == "default"
    assert ask(server, port, "x", address="127.0.0.2").text == "admin.test"


def test_several_addresses_of_one_site_and_a_unix_socket(start, site, tmp_path):
    ports = free_ports(2)
    lines = "".join(f"Listen 127.0.0.1:{port}\n" for port in ports) + f"Listen unix:{tmp_path}/socket"
    server = start(server=SERVER, files={"a.txt": "default"}, sites={"admin": site("admin.test", lines)})
    server.wait_for_log(r"listening address=unix:")
    assert [ask(server, port, "x").text for port in ports] == ["admin.test"] * 2
    with server.connect(f"{tmp_path}/socket") as connection:
        assert connection.request("/a.txt").text == "admin.test"


def test_a_server_whose_sites_all_have_addresses_listens_nowhere_else(start, tmp_path):
    ports = free_ports(2)
    (tmp_path / "root").mkdir(exist_ok=True)
    texts = [section("HOST", f"ServerName s{port}.test\nDocumentRoot ../root\nListen 127.0.0.1:{port}\nHeader X-Site {port}") for port in ports]
    server = start(extra={"monkey.conf": section("SERVER", "Workers 2\nErrorLog stderr") + "".join(texts), "sites/default": None})
    for port in ports:
        wait(server, port)
    assert sorted(int(address.rpartition(":")[2]) for address in server.addresses) == sorted(ports)
    assert [ask(server, port, "x", "/").header("X-Site") for port in ports] == [str(port) for port in ports]


def test_flags_and_http2(start, site):
    if not process.plugin("http2"):
        pytest.skip("this build has no http2")
    port = free_port()
    server = start(server=SERVER, files={"a.txt": "default"}, sites={"admin": site("admin.test", f"Listen 127.0.0.1:{port} h2")})
    wait(server, port)
    with Frames(("127.0.0.1", port)) as client:
        for stream, host in ((1, "other.test"), (3, "admin.test")):
            client.send(client.head(stream, "/a.txt", authority=host))
            assert client.answer(stream) == (200, b"admin.test")


def test_a_reload_gives_and_takes_addresses(start, site):
    """A connection goes on as the configuration has its address now."""
    port = free_port()
    with_it = {"server": SERVER, "files": {"a.txt": "default"}}
    server = start(sites={"admin": site("admin.test")}, **with_it)
    assert ask(server, server.port, "admin.test").text == "admin.test"
    server.reload(sites={"admin": site("admin.test", f"Listen 127.0.0.1:{port}")}, **with_it)
    wait(server, port)
    with server.connect(("127.0.0.1", server.port)) as general, server.connect(("127.0.0.1", port)) as own:
        assert general.request("/a.txt", host="admin.test").text == "default"
        assert own.request("/a.txt", host="other.test").text == "admin.test"
        server.reload(sites={"aside": site("aside.test", f"Listen 127.0.0.1:{port}"), "b": site("b.test")}, **with_it)
        assert own.request("/a.txt", host="b.test").text == "aside.test"
        assert general.request("/a.txt", host="b.test").text == "b.test"


def test_two_reloads_while_a_head_arrives(start, site):
    """The request belongs to the configuration with which it began."""
    port = free_port()
    with_it = {"server": SERVER, "files": {"a.txt": "default"}}
    server = start(sites={"a": site("a.test"), "z": site("z.test", f"Listen 127.0.0.1:{port}")}, **with_it)
    wait(server, port)
    with server.connect(("127.0.0.1", port)) as own:
        own.send(b"GET /a.txt HTTP/1.1\r\n")
        assert own.is_open()
        for number in range(2):
            server.reload(sites={f"z{number}": site("z.test", f"Listen 127.0.0.1:{port}")}, **with_it)
        own.send(b"Host: a.test\r\n\r\n")
        assert own.response().text == "z.test"
        assert own.request("/a.txt", host="a.test").text == "z.test"


# ---- configurations ----

@pytest.mark.plain
@pytest.mark.parametrize("line, message", [
    ("Listen", "Listen: expected a port from 1 to 65535"), ("Listen nowhere", "Listen: expected a port from 1 to 65535"),
    ("Listen 70000", "Listen: expected a port from 1 to 65535"), ("Listen 127.0.0.1:8001 nothing", 'Listen: the flag "nothing" is neither proxy nor h2 nor a transport'),
    ("Listen 127.0.0.1:8001 proxy", "needs TrustedProxies"), ("Listen 127.0.0.1:8000", "Listen: 127.0.0.1:8000 appears twice, and a site with an address of its own has it alone"),
    ("Listen 127.0.0.1:8001\nListen 127.0.0.1:8001", "Listen: 127.0.0.1:8001 appears twice"),
])
def test_faults_have_their_place_in_the_site(check, site, line, message):
    said = check(server="Listen 127.0.0.1:8000", sites={"admin": site("admin.test", line)})
    assert said.count(message) == 1, said
    assert re.search(r"sites/admin:[45]:\d+: error: ", said), said


@pytest.mark.plain
def test_an_address_of_nobody_is_a_fault(check):
    said = check(server="Listen 127.0.0.1:8000", host="Listen 127.0.0.1:8001")
    assert "Listen: no site answers at 127.0.0.1:8000, since each has Listen lines of its own: keep it in [SERVER] or in [HOST]" in said


@pytest.mark.plain
def test_an_address_is_no_places(check):
    assert 'unknown key "Listen" in [LOCATION]' in check(site=section("LOCATION", "Path /a\nListen 8001"))


@pytest.mark.plain
def test_a_site_with_an_address_needs_no_name(check, tmp_path):
    text = section("HOST", f"DocumentRoot {tmp_path}\nListen 127.0.0.1:8001")
    assert "no request reaches this site" not in check(sites={"admin": text})


@pytest.mark.plain
def test_dump_reads_back(tmp_path, site):
    written = Config(tmp_path)
    written.write(sites={"admin": site("admin.test", "Listen 127.0.0.1:8001 h2" if process.plugin("http2") else "Listen 127.0.0.1:8001")})
    said = process.run("--configdir", written.folder, "--dump").stdout
    assert re.search(r"# \S+/sites/admin:4\n    Listen 127\.0\.0\.1:8001", said), said
