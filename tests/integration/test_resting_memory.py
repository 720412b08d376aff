# SPDX-License-Identifier: Apache-2.0
"""What only starting and reloading need is given back when they are over: its code too."""

import base64
import gzip
import hashlib
import pathlib
import re
import signal

import pytest

from harness import cgi, process
from harness.backend import Backend, servers
from harness.client import eventually
from harness.config import section

WITHIN = 5.0  # seconds; it is given back after one


def resident(pid, is_meant):
    """KB of the mappings that are."""
    mappings = re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", pathlib.Path(f"/proc/{pid}/smaps").read_text(), flags=re.M)[1:]
    return sum(int(re.search(r"^Rss: +(\d+) kB", mapping, re.M)[1]) for mapping in mappings if is_meant(mapping))


def resident_for_the_start(pid):
    """The mapping that src/layout.ld makes: code that is left out of dumps."""
    return resident(pid, lambda mapping: "monkey" in mapping and re.search(r"^VmFlags:.* ex .*\bdd\b", mapping, re.M))


def resident_of_the_program(pid):
    return resident(pid, lambda mapping: re.search(r" r-xp .*/monkey$", mapping.partition("\n")[0]))


def has_given_back(server):
    return re.search(r"^VmFlags:.* ex .*\bdd\b", pathlib.Path(f"/proc/{server.pid}/smaps").read_text(), re.M) and \
        resident_for_the_start(server.pid) == 0


def ask_all_sorts(server):
    assert server.get("/a.txt").text == "text"
    assert server.head("/").status == 200
    assert server.get("/folder").status == 301
    assert server.get("/none").status == 404
    assert server.get("/a.txt", {"Range": "bytes=1-2"}).text == "ex"
    assert server.get("/a.txt", {"If-Modified-Since": "Fri, 13 Nov 2099 10:00:00 GMT"}).status == 304
    assert server.get("/a.txt", {"Accept-Encoding": "gzip", "Host": "[::1]:80", "Cookie": "a=b"}).status == 200
    assert server.request("/a.txt", "POST", body=b"body").status == 405
    assert server.request("/a.txt", "POST", headers={"Transfer-Encoding": "chunked"}, body=b"1\r\nx\r\n0\r\n\r\n").status == 405
    with server.connect() as connection:
        assert [connection.request("/a.txt").status for _ in range(2)] == [200, 200]


laid_out = pytest.mark.skipif(process.is_sanitized(), reason="only what is shipped is laid out so")


@laid_out
def test_code_for_the_start_is_given_back(start):
    config = {"files": {"a.txt": "text", "index.html": "index", "folder/b.txt": "text"}}
    server = start(**config)
    assert eventually(lambda: has_given_back(server), within=WITHIN)
    ask_all_sorts(server)
    assert has_given_back(server), "a usual request needs code for the start"
    server.reload(**config, host="Header X-Version 2")
    assert server.get("/a.txt").header("X-Version") == "2"
    assert eventually(lambda: has_given_back(server), within=WITHIN)


@laid_out
def test_a_reload_leaves_no_more_of_the_program_than_the_start(start):
    server = start()
    assert eventually(lambda: has_given_back(server), within=WITHIN)
    before = resident_of_the_program(server.pid)
    server.reload("configuration reloaded")
    assert eventually(lambda: resident_of_the_program(server.pid) <= before), resident_of_the_program(server.pid)


@laid_out
def test_logs_opened_again_need_no_code_for_the_start(start):
    """Some do that each hour."""
    server = start()
    assert eventually(lambda: has_given_back(server), within=WITHIN)
    server.signal(signal.SIGUSR1)
    server.wait_for_log("logs reopened")
    assert has_given_back(server)


SHA1 = "{SHA1}" + base64.b64encode(hashlib.sha1(b"secret").digest()).decode()
ALICE = {"Authorization": "Basic " + base64.b64encode(b"alice:secret").decode()}
# Built in they would be themselves among the code for the start.
PLUGINS = [name for name in ("auth", "cgi", "compress", "dirlisting", "logger", "mandril", "proxy_reverse")
           if isinstance(process.plugin(name), pathlib.Path)]


def with_many_features(tmp_path, backend):
    (tmp_path / "users").write_text(f"alice:{SHA1}\n")
    lines = {"auth": f"[AUTH]\n    Location /private\n    Users {tmp_path}/users\n",
             "logger": f"[LOGGER]\n    AccessLog {tmp_path}/access.log\n"}
    handlers = {"cgi": "Match ^/cgi-bin/ cgi\n", "dirlisting": "Match ^/list/ dirlisting\n"}
    return {
        "server": "Timeout 600ms\nKeepAliveTimeout 400ms\nMaxBodySize 1K",
        "host": "TryFiles $uri $uri/ $uri.html",
        "handlers": "".join(handlers[name] for name in PLUGINS if name in handlers),
        "error_pages": "404 lost.html",
        "site": "".join(lines[name] for name in PLUGINS if name in lines),
        "sites": {"wild": f"[HOST]\n    ServerName other.test *.wild.test\n    DocumentRoot {tmp_path}\n",
                  "old": "[HOST]\n    ServerName old.test\n    Redirect http://new.test/\n"},
        "files": {"a.txt": "text", "page.html": "page", "list/b.txt": "", "private/c.txt": "secret", "lost.html": "lost",
                  "cgi-bin/hi": "#!/bin/sh\necho 'Content-Type: text/plain'\necho\necho hi\n"},
        "extra": {"plugins.load": section("PLUGINS", "\n".join(f"Load {process.plugin(name)}" for name in PLUGINS)),
                  "plugins/mandril/mandril.conf": section("RULES", "Deny_URL /denied"),
                  "plugins/compress/compress.conf": section("COMPRESS", "Types text/html\nMinSize 0"),
                  "plugins/proxy_reverse/proxy_reverse.conf": section("PROXY_ENTRY", f"{servers([backend])}\nMatch ^/proxied")},
    }


def be_silent(server):
    with server.connect() as connection:
        connection.send("GET / HT")
        return connection.rest()


def be_idle(server):
    with server.connect() as connection:
        assert connection.request("/a.txt").status == 200
        return connection.rest()


FEATURES = {
    "a site's redirect": lambda s: s.get("/x", {"Host": "old.test"}).status == 301,
    "a wildcard": lambda s: s.get("/users", {"Host": "x.wild.test"}).status == 200,
    "another name for a file": lambda s: s.get("/page").text == "page",
    "a page for an error": lambda s: s.get("/missing").text == "lost",
    "a method": lambda s: s.request("/a.txt", "BREW").status == 501,
    "a body too large": lambda s: s.request("/a.txt", "POST", body=b"x" * 2000).status in (405, 413),
    "an absolute target": lambda s: s.get("http://other.test/users").status == 200,
    "no such tunnel": lambda s: s.request("other.test:1", "CONNECT").status >= 400,
    "an old version": lambda s: b" 200 " in s.raw(b"GET /a.txt HTTP/1.0\r\n\r\n"),
    "a new version": lambda s: b" 505 " in s.raw(b"GET /a.txt HTTP/2.0\r\nHost: a\r\n\r\n"),
    "nonsense": lambda s: b" 400 " in s.raw(b"nonsense\r\n\r\n"),
    "a head too large": lambda s: s.get("/a.txt", {"X": "x" * 100000}).status == 431,
    "several ranges": lambda s: s.get("/a.txt", {"Range": "bytes=0-0,2-2"}).status in (200, 206),
    "silence": be_silent,
    "an idle connection": lambda s: be_idle(s) == b"",
}
OF_PLUGINS = {
    ("auth", "a password"): lambda s: s.get("/private/c.txt", ALICE).status == 200,
    ("auth", "no password"): lambda s: s.get("/private/c.txt").status == 401,
    ("dirlisting", "a list"): lambda s: s.get("/list/").status == 200,
    ("mandril", "a denial"): lambda s: s.get("/denied").status == 403,
    ("compress", "a page"): lambda s: gzip.decompress(s.get("/page.html", {"Accept-Encoding": "gzip"}).body) == b"page",
    ("cgi", "a script"): lambda s: s.get("/cgi-bin/hi").text == "hi\n",
    ("proxy_reverse", "a backend"): lambda s: s.get("/proxied").text == "hello",
}


@laid_out
def test_features_need_no_code_for_the_start(start, tmp_path):
    with Backend(each=lambda c, q: c.answer(b"hello")) as backend:
        server = start(**with_many_features(tmp_path, backend))
        cgi.make_executable(server, ["cgi-bin/hi"])
        assert eventually(lambda: has_given_back(server), within=WITHIN)
        uses = {**FEATURES, **{name: use for (plugin, name), use in OF_PLUGINS.items() if plugin in PLUGINS}}
        needy = []
        for name, use in uses.items():
            assert use(server), name
            if not has_given_back(server):
                needy.append(name)
        assert needy == [], needy
