# SPDX-License-Identifier: Apache-2.0
"""The logger: what is written, where, and how it looks."""

import json
import os
import pathlib
import re
import socket
import stat
import time

import pytest

from harness import http
from harness.client import eventually
from harness.config import section
from harness.logs import lines_of, logging, one_line, wait_for_lines

TIME = r"\[\d\d/[A-Z][a-z][a-z]/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\]"


def test_combined_is_the_default(start):
    server = start(**logging(files={"a.txt": "hello"}))
    assert server.get("/a.txt?x=1", headers={"Referer": "http://a.example/", "User-Agent": "test/1 \"x\""}).status == 200
    assert re.fullmatch(rf'127\.0\.0\.1 - - {TIME} "GET /a\.txt\?x=1 HTTP/1\.1" 200 5 "http://a\.example/" "test/1 \\x22x\\x22"',
                        one_line(server.conf / "access.log"))


def test_common(start):
    server = start(**logging("FlushTimeout 0\nFormat common"))
    server.head("/nothing")
    assert re.fullmatch(rf'127\.0\.0\.1 - - {TIME} "HEAD /nothing HTTP/1\.1" 404 -', one_line(server.conf / "access.log"))


def test_the_time_is_now(start):
    server = start(**logging("FlushTimeout 0\nFormat '%t'"), env={"TZ": "Asia/Kolkata"})
    server.get("/")
    written = time.mktime(time.strptime(one_line(server.conf / "access.log"), "[%d/%b/%Y:%H:%M:%S +0530]"))
    assert abs(written - time.mktime(time.gmtime(time.time() + 5.5 * 3600))) < 5


def test_json(start):
    server = start(**logging("FlushTimeout 0\nFormat json", host="ServerName example.org", files={"a.txt": "hello"}))
    server.get("/a.txt?x=\"", headers={"User-Agent": "u", "Referer": "r"})
    server.get("/a.txt?x=%22", headers={"User-Agent": "u\\\"", "Referer": "r"})
    entries = [json.loads(line) for line in wait_for_lines(server.conf / "access.log", 2)]
    entry, refused = sorted(entries, key=lambda entry: entry["status"])  # workers write when they like
    assert refused["status"] == 400
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d", entry.pop("time"))
    assert 0 <= entry.pop("duration_ms") < 1000
    assert entry.pop("host").startswith("")
    assert entry == {"peer": "127.0.0.1", "user": None, "method": "GET", "target": "/a.txt?x=%22",
                     "protocol": "HTTP/1.1", "site": "example.org", "status": 200, "bytes": 5, "referer": "r",
                     "agent": "u\\\"", "whole": True}


def test_json_is_valid_for_every_byte_that_a_peer_sends(start):
    server = start(**logging("FlushTimeout 0\nFormat json"))
    requests = 0
    for byte in range(256):
        server.raw_until_cut(b"GET /a" + bytes([byte]) + b"b HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        server.raw_until_cut(b"GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: a" + bytes([byte]) +
                             b"b\r\nConnection: close\r\n\r\n")
        requests += 2
    entries = [json.loads(line) for line in wait_for_lines(server.conf / "access.log", requests)]
    agents = {entry["agent"] for entry in entries if entry["status"] != 400}
    assert {"aéb", "a\"b", "a\\b", "a\u00ffb", "a\tb"} <= agents


def test_no_byte_breaks_a_line_of_text(start):
    server = start(**logging())
    for byte in range(256):
        server.raw_until_cut(b"GET /a" + bytes([byte]) + b"b HTTP/1.1\r\nHost: a\r\nReferer: a" + bytes([byte]) +
                             b"b\r\nConnection: close\r\n\r\n")
    for line in wait_for_lines(server.conf / "access.log", 256):
        assert line.isascii() and line.isprintable()
        assert line.count('"') == 6


def test_long_fields_are_clipped_and_marked(start):
    server = start(**logging())
    server.get("/" + "a" * 5000, headers={"Referer": "r" * 5000, "User-Agent": "\xff" * 5000})
    line = one_line(server.conf / "access.log")
    request, referer, agent = re.findall(r'"([^"]*)"', line)
    assert request == "GET /" + "a" * 1023 + "... HTTP/1.1"
    assert referer == "r" * 1024 + "..."
    assert agent == "\\xFF" * 256 + "..."


def test_durations_in_milliseconds(start):
    server = start(**logging("FlushTimeout 0\nFormat '%{ms}T %D %T %s'"))
    with server.connect() as connection:
        connection.send("GET / HTTP/1.1\r\n")
        time.sleep(0.6)  # of which a busy server may see the first part late
        connection.send("Host: a\r\n\r\n")
        connection.response()
    ms, us, s, status = map(int, one_line(server.conf / "access.log").split())
    assert 250 <= ms < 5000
    assert (us, s) == (ms * 1000, ms // 1000)


def test_custom_format(start):
    server = start(**logging("FlushTimeout 0\nFormat '%m %U %q %H %v %{X-Test}i %{X-None}i %X 100%%'",
                             host="ServerName example.org", files={"a b.txt": ""}))
    server.get("/x/../a%20b.txt?q", headers={"X-Test": "yes"})
    assert one_line(server.conf / "access.log") == "GET /a b.txt ?q HTTP/1.1 example.org yes - - 100%"


@pytest.mark.socket("its bytes are those of HTTP/1")
@pytest.mark.parametrize("headers, body", [({}, b"hello"), ({"Transfer-Encoding": "chunked"}, b"3\r\nhel\r\n2;x\r\nlo\r\n0\r\n\r\n")])
def test_bytes_both_ways(start, headers, body):
    server = start(**logging("FlushTimeout 0\nFormat json bytes_received bytes r=%{received}B", handlers="Match ^/echo echo"))
    answer = server.request("/echo", "POST", headers=headers, body=body)
    assert json.loads(one_line(server.conf / "access.log")) == {"bytes_received": 5, "bytes": len(answer.body), "r": 5}


def test_refused_requests_are_logged(start):
    server = start(**logging())
    server.raw_until_cut(b"\x00\x01\r\n\r\n")
    assert re.search(r'" 400 ', one_line(server.conf / "access.log"))


REFUSED = [
    ("target too long", b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", r'"GET /a{100,}\.\.\." 414 '),
    ("no version", b"GET /here\r\n\r\n", r'"GET /here" 400 '),
    ("other version", b"GET /a HTTP/9.1\r\nHost: a\r\n\r\n", r'"GET /a HTTP/9\.1" 505 '),
    ("not HTTP", b"\x16\x03\x01\x02 \"\x1b[31m\r\n\r\n", r'"\\x16\\x03\\x01\\x02 \\x22\\x1B\[31m" 400 '),
    ("bad target", b"GET /\"x\" HTTP/1.1\r\nHost: a\r\n\r\n", r'"GET /\\x22x\\x22 HTTP/1\.1" 400 '),
    ("bad field", b"GET /a?b HTTP/1.1\r\nHost: a\r\nBad Field: x\r\n\r\n", r'"GET /a\?b HTTP/1\.1" 400 '),
    ("behind an empty line", b"\r\nGET /a HTTP/1.1\r\n\r\n", r'"GET /a HTTP/1\.1" 400 '),
    ("nothing but empty lines", b"\r\n\r\n\r\n", r'"-" 400 '),
]


@pytest.mark.parametrize("request_bytes, line", [pytest.param(*rest, id=name) for name, *rest in REFUSED])
def test_the_request_line_of_a_refused_request_is_as_it_was_sent(start, request_bytes, line):
    server = start(**logging("FlushTimeout 0\nFormat '\"%r\" %s %b'"))
    server.raw_until_cut(request_bytes)
    text = one_line(server.conf / "access.log")
    assert re.match(line, text) and len(text) < 5000, text


def test_the_target_of_a_refused_request_is_in_json(start):
    server = start(**logging("FlushTimeout 0\nFormat json"))
    server.raw_until_cut(b"GET /\"x\" HTTP/1.1\r\nHost: a\r\n\r\n")
    assert json.loads(one_line(server.conf / "access.log"))["target"] == '/"x"'


def test_a_client_that_did_not_wait_is_499(start):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        entry = section("PROXY_ENTRY", f"Match ^/slow\nServerList 127.0.0.1:{silent.getsockname()[1]}")
        config = logging("FlushTimeout 0\nFormat '%s %U'")
        config["extra"]["plugins.load"] += "    Load proxy_reverse\n"
        config["extra"]["plugins/proxy_reverse/a.conf"] = entry
        server = start(**config)
        with server.connect() as connection:
            connection.send(http.request("/slow"))
            silent.settimeout(30)
            backend = silent.accept()[0]
            assert backend.recv(1)
            connection.reset()
        assert one_line(server.conf / "access.log") == "499 /slow"
        backend.close()


def test_a_broken_answer_is_marked(start):
    server = start(**logging("FlushTimeout 0\nFormat '%s %X %B'"), files={"big.bin": b"x" * 20_000_000})
    with server.connect(receive_buffer=4096) as connection:
        connection.send(http.request("/big.bin"))
        time.sleep(0.2)
        connection.reset()
    status, broken, sent = one_line(server.conf / "access.log").split()
    assert (status, broken) == ("200", "X")
    assert 0 < int(sent) < 20_000_000


def test_every_request_of_a_pipeline(start):
    server = start(**logging("FlushTimeout 0\nFormat '%U'"))
    with server.connect() as connection:
        connection.send(b"".join(http.request(f"/{i}") for i in range(100)))
        for _ in range(100):
            connection.response()
    assert wait_for_lines(server.conf / "access.log", 100) == [f"/{i}" for i in range(100)]


def test_ipv6_and_unix_peers(start, tmp_path):
    server = start(**logging("FlushTimeout 0\nFormat '%h'", server=f"Listen 127.0.0.1:0\nListen [::1]:0\n"
                                                                    f"Listen unix:{tmp_path}/socket"))
    port = int(next(a for a in server.addresses if a.startswith("[")).rpartition(":")[2])
    with server.connect(("::1", port)) as connection:
        connection.request("/")
    with server.connect(str(tmp_path / "socket")) as connection:
        connection.request("/")
    assert sorted(wait_for_lines(server.conf / "access.log", 2)) == ["::1", "unix:"]


# -- where

def test_sites_and_the_master_log(start):
    server = start(**logging("FlushTimeout 0\nFormat '%v %U'\nMasterLog master.log", log="",
                             host="ServerName one.example", sites={
        "two": "[HOST]\n    ServerName two.example\n    DocumentRoot /tmp\n[LOGGER]\n    AccessLog two.log\n",
        "three": "[HOST]\n    ServerName three.example\n    DocumentRoot /tmp\n",
    }))
    for name in ("one", "two", "three"):
        server.get(f"/{name}", headers={"Host": f"{name}.example"}, host=None)
    assert one_line(server.conf / "two.log") == "two.example /two"
    assert sorted(wait_for_lines(server.conf / "master.log", 2)) == ["one.example /one", "three.example /three"]


def test_sites_with_formats_of_their_own(start):
    """One site's lines are text, another's JSON, a third's those of the plugin's file; the times have the form of each."""
    def site(name, settings):
        return f"[HOST]\n    ServerName {name}.example\n    DocumentRoot /tmp\n" + section("LOGGER", f"AccessLog {name}.log\n{settings}")

    server = start(**logging("FlushTimeout 0\nFormat 'file %v'", log="AccessLog one.log", host="ServerName one.example", server="Workers 1",
                             sites={"two": site("two", "Format json time status"), "three": site("three", "Format '%t %s'")}))
    for _ in range(3):
        for name in ("one", "two", "three"):
            server.get("/none", headers={"Host": f"{name}.example"}, host=None)
    assert wait_for_lines(server.conf / "one.log", 3) == ["file one.example"] * 3
    for line in wait_for_lines(server.conf / "two.log", 3):
        assert re.fullmatch(r'\{"time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d","status":404\}', line)
    assert all(re.fullmatch(f"{TIME} 404", line) for line in wait_for_lines(server.conf / "three.log", 3))


def test_two_sites_in_one_file(start):
    server = start(**logging("FlushTimeout 0\nFormat '%v'", log="AccessLog all.log", host="ServerName one.example", sites={
        "two": "[HOST]\n    ServerName two.example\n    DocumentRoot /tmp\n[LOGGER]\n    AccessLog all.log\n"}))
    for _ in range(3):
        for name in ("one", "two"):
            server.get("/", headers={"Host": f"{name}.example"}, host=None)
    assert sorted(wait_for_lines(server.conf / "all.log", 6)) == ["one.example"] * 3 + ["two.example"] * 3


def test_no_log_is_named_and_none_is_written(start):
    server = start(**logging("FlushTimeout 0", log=""))
    server.get("/")
    server.stop()
    assert not list(server.conf.glob("*.log"))


def test_a_match_line_switches_it_on_for_its_site_only(start):
    server = start(**logging("FlushTimeout 0\nFormat '%v'\nMasterLog master.log", log="", host="ServerName one.example",
                             handlers="Match ^/ logger", sites={
        "two": "[HOST]\n    ServerName two.example\n    DocumentRoot /tmp\n"}))
    for name in ("two", "one"):
        server.get("/", headers={"Host": f"{name}.example"}, host=None)
    server.stop()
    assert lines_of(server.conf / "master.log") == ["one.example"]


def test_a_match_line_chooses_what_is_logged(start):
    """Requests that were refused before their path was known are in the log all the same."""
    server = start(**logging("FlushTimeout 0\nFormat '%s %U'", handlers="Match ^/pub/ logger",
                             files={"pub/index.html": "x", "private.html": "x"}))
    server.get("/pub/")
    server.get("/private.html")
    server.get("/pub/nothing")
    with server.connect() as connection:
        connection.send(b"GET / HTTP/1.1\r\n\r\n")
        connection.rest()
    server.stop()
    assert sorted(lines_of(server.conf / "access.log")) == ["200 /pub/index.html", "400 -", "404 /pub/nothing"]


def test_errors_of_a_site(start):
    server = start(**logging(log="ErrorLog errors.log", files={"a.txt": "a"}))
    server.get("/a.txt")
    server.get("/nothing\"x", headers={"Referer": "http://a.example/"})
    server.get("/nothing%0A", headers={"Referer": "http://a.example/"})
    lines = sorted(wait_for_lines(server.conf / "errors.log", 2), key=lambda line: "status=404" in line)
    assert re.fullmatch(
        r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z level=warn in=http request failed conn=\d+ peer=127\.0\.0\.1 status=404 '
        r'reason="no such file" method="GET" target="/nothing%0A" host="[^"]*" referer="http://a\.example/"', lines[1])
    assert 'status=400 reason="bad request target' in lines[0] and r'request="GET /nothing\x22x HTTP/1.1"' in lines[0]


def test_files_are_for_owner_and_group_only(start):
    server = start(**logging())
    server.get("/")
    one_line(server.conf / "access.log")
    assert stat.S_IMODE(os.stat(server.conf / "access.log").st_mode) & ~0o640 == 0


def test_lines_wait_for_flush_timeout_and_no_other_line(start):
    server = start(**logging("FlushTimeout 1"))
    server.get("/")
    assert eventually(lambda: lines_of(server.conf / "access.log"))


def test_what_waits_is_written_when_the_server_ends(start):
    server = start(**logging("FlushTimeout 1h"))
    server.get("/")
    server.stop()
    assert len(lines_of(server.conf / "access.log")) == 1


def test_its_thread_sleeps_while_nobody_asks(start):
    server = start(**logging("FlushTimeout 0"))
    server.get("/")
    one_line(server.conf / "access.log")
    (task,) = [task for task in pathlib.Path(f"/proc/{server.pid}/task").iterdir()
               if (task / "comm").read_text() == "mk-logger\n"]

    def switches():
        return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", (task / "status").read_text(), re.M)[1])

    def sleeps():
        before = switches()
        time.sleep(1)
        return switches() == before

    assert eventually(sleeps)


# -- reload

def test_a_reload_keeps_adds_and_ends_logs(start):
    server = start(**logging("FlushTimeout 0\nFormat '%U'"))
    server.get("/1")
    one_line(server.conf / "access.log")
    kept = (server.conf / "access.log").read_text()
    descriptors = server.open_descriptors()
    for number in range(10):
        log = server.folder / f"other{number}.log"
        server.reload(**logging("FlushTimeout 0\nFormat 'other %U'", log=f"AccessLog {log}"))
        server.get(f"/{number}")
        assert one_line(log) == f"other /{number}"
    assert kept == "/1\n"
    assert eventually(lambda: server.open_descriptors() <= descriptors)


def test_a_reload_to_no_log_and_back(start):
    server = start(**logging(log=""))
    server.get("/")
    server.reload(**logging("FlushTimeout 0\nFormat '%U'", log=f"AccessLog {server.folder}/a.log"))
    server.get("/1")
    one_line(server.folder / "a.log")
    server.reload(**logging(log=""))
    server.get("/2")
    server.reload(**logging("FlushTimeout 0\nFormat '%U'", log=f"AccessLog {server.folder}/a.log"))
    server.get("/3")
    assert wait_for_lines(server.folder / "a.log", 2) == ["/1", "/3"]


@pytest.mark.parametrize("place", ["missing/access.log", "plugins"])
def test_a_log_that_cannot_be_opened_refuses_a_reload(start, place):
    server = start(**logging())
    text = server.reload(expect="stays in force", **logging(log=f"AccessLog {place}"))
    assert ("there is no folder" if "/" in place else "cannot open the log") in text and place.split("/")[0] in text
    assert server.get("/").status in (403, 404)
