# SPDX-License-Identifier: Apache-2.0
"""docs/from-nginx.md, from-apache.md, from-monkey-1.md: their sites are checked and served, and the keys of their tables exist."""

import re

import pytest

from harness import certificates, process, secured, written
from harness.backend import Backend
from harness.client import free_port

PAGES = {name: written.page(f"from-{name}") for name in ("nginx", "apache", "monkey-1")}
PLUGINS = ("tls", "http2", "rewrite", "compress", "file", "mandril", "fastcgi", "logger", "proxy_reverse", "auth", "cgi", "dirlisting")

pytestmark = [
    pytest.mark.skipif(not all(process.plugin(name) for name in PLUGINS), reason="not all plugins are built"),
    pytest.mark.once("pages of the documentation"),
]


def files_of(page, title):
    return written.files(re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGES[page], re.M | re.S)[1])


def config_of(page, title, *places):
    """What `start` needs. places: as for written.moved."""
    texts = written.moved(files_of(page, title), *places)
    if "plugins.load" in texts:
        texts["plugins.load"] = re.sub(r"Load (\w+)", lambda m: f"Load {process.plugin(m[1])}", texts["plugins.load"])
    return {"extra": {**({} if "sites/default" in texts else {"sites/default": None}), **texts}}


def of_tls(port, words="tls"):
    """Where the page has ports that a test cannot have. The first address is the one with TLS."""
    pair = dict(re.findall(r"(?:RSA)?(\w+) (\S+)", certificates.issue().lines()))
    return [("/etc/ssl/www.crt", pair["CertificateFile"]), ("/etc/ssl/www.key", pair["KeyFile"]),
            (f"Listen 80\n    Listen 443 {words}", f"Listen 127.0.0.1:{port} {words}\n    Listen 127.0.0.2:0")]


def plainly(server, target):
    """The answer of the address without TLS."""
    plain = next(address for address in server.addresses if address.startswith("127.0.0.2"))
    with server.connect(("127.0.0.2", int(plain.rpartition(":")[2]))) as connection:
        return connection.request(target)


# ---- nginx ----

def test_a_static_site_with_tls(start, tmp_path):
    (tmp_path / "www").mkdir()
    (tmp_path / "manual").mkdir()
    (tmp_path / "www" / "a.css").write_text("a { }\n" * 1000)
    (tmp_path / "www" / "404.html").write_text("lost")
    (tmp_path / "manual" / "b.txt").write_text("the manual")
    port = free_port()
    server = start(**config_of("nginx", "A static site with TLS", ("/srv/www", tmp_path / "www"), ("/srv/manual", tmp_path / "manual"),
                               *of_tls(port, "tls h2"), ("www.example.org example.org", "localhost"),
                               ("https://$host$request_uri", f"https://$host:{port}$request_uri")))
    host = f"localhost:{port}"
    assert plainly(server, "/a.css").header("Location") == f"https://{host}/a.css"
    assert secured.ask(server, "/a.css", host=host).header("Cache-Control") == "max-age=604800"
    assert secured.ask(server, "/docs/b.txt", host=host).body == b"the manual"
    assert secured.ask(server, "/news/7", host=host).header("Location") == "/articles/7.html"
    assert secured.ask(server, "/none", host=host).body == b"lost"


def test_an_application_with_its_static_files(start, tmp_path):
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "a.css").write_text("a { }")
    (tmp_path / "robots.txt").write_text("robots")
    with Backend(name="first") as first, Backend(name="second") as second:
        server = start(**config_of("nginx", "An application with its static files", ("/srv/shop/public", tmp_path),
                                   ("10.0.0.1:8000", first.address), ("10.0.0.2:8000", second.address),
                                   ("Listen 80", "Listen 127.0.0.1:0")))
        assert server.get("/static/a.css").header("Cache-Control") == "max-age=2592000"
        assert server.get("/static/none").status == 404
        assert server.get("/robots.txt").text == "robots"
        assert server.get("/cart?id=1").status == 200
        assert [request.target for request in first.requests + second.requests] == ["/cart?id=1"]


def test_wordpress_is_checked(tmp_path):
    (tmp_path / "log").mkdir()
    config = config_of("nginx", "WordPress", ("/srv/wordpress", tmp_path), ("/var/log", tmp_path / "log"),
                       ("Listen 80", "Listen 127.0.0.1:0"))
    written.assert_fine(tmp_path / "conf", config["extra"])


@pytest.mark.parametrize("title", re.findall(r"^## (.*)\n\n```nginx", PAGES["nginx"], re.M))
def test_each_site_is_one_file_and_shorter(title):
    theirs = re.search(rf"^## {title}\n\n```nginx\n(.*?)^```", PAGES["nginx"], re.M | re.S)[1]
    (name, ours), = files_of("nginx", title).items()
    assert name == "monkey.conf" and len(ours.splitlines()) < len(theirs.splitlines()) and len(ours) < len(theirs)


# ---- Apache ----

def test_a_site_with_tls_and_a_closed_folder(start, tmp_path):
    (tmp_path / "www" / "board").mkdir(parents=True)
    (tmp_path / "icons").mkdir()
    (tmp_path / "www" / "a.txt").write_text("text")
    (tmp_path / "www" / "404.html").write_text("lost")
    (tmp_path / "icons" / "a.png").write_text("an icon")
    (tmp_path / "users").write_text("alice:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n")  # secret
    port = free_port()
    host = f"localhost:{port}"
    server = start(**config_of("apache", "A site with TLS and a closed folder", ("/srv/www", tmp_path / "www"),
                               ("/srv/icons", tmp_path / "icons"), ("/etc/www.users", tmp_path / "users"), *of_tls(port),
                               ("https://www.example.org/", f"https://{host}/"), ("www.example.org", "localhost")))
    assert plainly(server, "/a.txt").header("Location") == f"https://{host}/a.txt"
    assert secured.ask(server, "/a.txt", host=host).body == b"text"
    assert secured.ask(server, "/icons/a.png", host=host).body == b"an icon"
    assert secured.ask(server, "/people/ada", host=host).header("Location") == "/staff/ada.html"
    assert secured.ask(server, "/board/", host=host).status == 401
    assert secured.ask(server, "/none", host=host).body == b"lost"


def test_scripts_and_listings(start, tmp_path):
    (tmp_path / "pub").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "cgi-bin").mkdir()
    (tmp_path / "pub" / "a.log").write_text("a line")
    script = tmp_path / "cgi-bin" / "hi"
    script.write_text("#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nhi'\n")
    script.chmod(0o755)
    server = start(**config_of("apache", "Scripts and listings", ("/srv/tools", tmp_path), ("Listen 80", "Listen 127.0.0.1:0")))
    server.wait_for_log("started workers=")
    assert server.get("/cgi-bin/hi").text == "hi"
    assert "a.log" in server.get("/pub/").text
    assert server.get("/pub/a.log").header("Content-Type").startswith("text/plain")
    assert server.get("/other/").status == 403


def test_applications_behind_a_proxy(start, tmp_path):
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "a.css").write_text("a { }")
    with Backend(name="first") as first, Backend(name="second") as second, Backend(name="wiki") as wiki:
        server = start(**config_of("apache", "Applications behind a proxy", ("/srv/shop", tmp_path), ("10.0.0.1:8000", first.address),
                                   ("10.0.0.2:8000", second.address), ("10.0.0.3:8080", wiki.address),
                                   ("Listen 80", "Listen 127.0.0.1:0")))
        assert server.get("/static/a.css").text == "a { }"
        assert server.get("/wiki/page?x").status == server.get("/cart").status == 200
        assert [request.target for request in wiki.requests] == ["/page?x"]
        assert [request.target for request in first.requests + second.requests] == ["/cart"]


# ---- Monkey 1 ----

def test_a_whole_site_of_monkey_1_is_checked(tmp_path):
    (tmp_path / "log").mkdir()
    (tmp_path / "404.html").write_text("lost")
    config = config_of("monkey-1", "A whole site", ("/srv/www", tmp_path), ("/var/log", tmp_path / "log"), ("/run/", f"{tmp_path}/"),
                       ("Port 2001", "Listen 127.0.0.1\n    Port 2001"))
    written.assert_fine(tmp_path / "conf", config["extra"])


# ---- the tables ----

def keys_of_the_table(page):
    """The first words in backquotes of the second column that are keys."""
    for row in re.findall(r"^\| [^\n]*?(?<!\\)\| ([^\n]*) \|$", PAGES[page], re.M):
        for code in re.findall(r"`([^`]+)`", row):
            if re.match(r"[A-Z]\w+", code):
                yield code.split()[0]


@pytest.mark.parametrize("page, at_least", [("nginx", 30), ("apache", 30)])
def test_the_keys_of_the_tables_are_described(page, at_least):
    pages = "".join(path.read_text() for path in (process.TREE / "docs" / "man").glob("monkey*.5"))
    keys = set(keys_of_the_table(page)) - {"Load", "NAME"}
    assert len(keys) >= at_least
    missing = [key for key in keys if not re.search(rf"^\.(BI|B|BR|IR) {key}\b|^    {key} ", pages, re.M)]
    assert not missing, missing
