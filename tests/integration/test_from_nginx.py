# SPDX-License-Identifier: Apache-2.0
"""docs/from-nginx.md: its sites are checked and served, and every key of its table is one."""

import re

import pytest

from harness import certificates, process, secured
from harness.backend import Backend
from harness.client import free_port

PAGE = (process.TREE / "docs" / "from-nginx.md").read_text()
SITES = dict(re.findall(r"^## ([^\n]+)\n+```nginx\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S))
PLUGINS = re.findall(r"Load (\w+)", PAGE)

pytestmark = pytest.mark.skipif(not all(process.plugin(name) for name in set(PLUGINS)), reason="not all plugins are built")


def files_of(title):
    return dict(re.findall(r"^`([\w./]+)`:\n\n```\n(.*?)^```", SITES[title], re.M | re.S))


def config_of(title, *places):
    """What `start` needs. places: (text of the page, what stands for it here)"""
    texts = files_of(title)
    for old, new in places:
        assert any(old in text for text in texts.values()), old
        texts = {name: text.replace(old, str(new)) for name, text in texts.items()}
    texts["plugins.load"] = re.sub(r"Load (\w+)", lambda m: f"Load {process.plugin(m[1])}", texts["plugins.load"])
    return {"extra": texts}


def test_a_static_site_with_tls(start, tmp_path):
    (tmp_path / "www").mkdir()
    (tmp_path / "manual").mkdir()
    (tmp_path / "www" / "a.css").write_text("a { }\n" * 1000)
    (tmp_path / "www" / "404.html").write_text("lost")
    (tmp_path / "manual" / "b.txt").write_text("the manual")
    pair, port = certificates.issue(), free_port()
    lines = dict(re.findall(r"(?:RSA)?(\w+) (\S+)", pair.lines()))
    server = start(**config_of("A static site with TLS", ("/srv/www", tmp_path / "www"), ("/srv/manual", tmp_path / "manual"),
                              ("/etc/ssl/www.crt", lines["CertificateFile"]), ("/etc/ssl/www.key", lines["KeyFile"]),
                              ("Listen 80\n    Listen 443 tls", f"Listen 127.0.0.1:{port} tls\n    Listen 127.0.0.2:0"),
                              ("www.example.org example.org", "localhost"), ("https://$host$path", f"https://$host:{port}$path")))
    plain = next(address for address in server.addresses if address.startswith("127.0.0.2"))
    with server.connect(("127.0.0.2", int(plain.rpartition(":")[2]))) as connection:
        assert connection.request("/a.css").header("Location") == f"https://localhost:{port}/a.css"
    host = f"localhost:{port}"
    answer = secured.ask(server, "/a.css", host=host)
    assert answer.header("Cache-Control") == "max-age=604800"
    assert secured.ask(server, "/docs/b.txt", host=host).body == b"the manual"
    assert secured.ask(server, "/news/7", host=host).header("Location") == "/articles/7.html"
    assert secured.ask(server, "/none", host=host).body == b"lost"


def test_an_application_with_its_static_files(start, tmp_path):
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "a.css").write_text("a { }")
    (tmp_path / "robots.txt").write_text("robots")
    with Backend(name="first") as first, Backend(name="second") as second:
        server = start(**config_of("An application with its static files", ("/srv/shop/public", tmp_path),
                                  ("10.0.0.1:8000", f"127.0.0.1:{first.port}"), ("10.0.0.2:8000", f"127.0.0.1:{second.port}"),
                                  ("Listen 80", "Listen 127.0.0.1:0")))
        assert server.get("/static/a.css").header("Cache-Control") == "max-age=2592000"
        assert server.get("/static/none").status == 404
        assert server.get("/robots.txt").text == "robots"
        assert server.get("/cart?id=1").status == 200
        assert [request.target for request in first.requests + second.requests] == ["/cart?id=1"]


def test_wordpress_is_checked(tmp_path):
    (tmp_path / "log").mkdir()
    config = config_of("WordPress", ("/srv/wordpress", tmp_path), ("/var/log", tmp_path / "log"),
                       ("Listen 80", "Listen 127.0.0.1:0"))
    folder = tmp_path / "conf"
    for name, text in {**config["extra"], "monkey.mime": "[MIMETYPES]\n    html text/html\n"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    result = process.run("--configdir", folder, "--test")
    assert result.returncode == 0 and result.stdout.startswith("configuration is fine\n"), result.stdout + result.stderr


def keys_of_the_table():
    """The first words in backquotes of the second column that are keys."""
    for row in re.findall(r"^\| `[^\n]*\| ([^|\n]*(?:\\\|[^|\n]*)*) \|$", PAGE, re.M):
        for code in re.findall(r"`([^`]+)`", row):
            if re.match(r"[A-Z]\w+", code):
                yield code.split()[0]


def test_the_keys_of_the_table_are_described():
    pages = "".join(path.read_text() for path in (process.TREE / "docs" / "man").glob("monkey*.5"))
    keys = set(keys_of_the_table()) - {"Load"}
    assert len(keys) >= 35
    missing = [key for key in keys if not re.search(rf"^\.(BI|B|BR|IR) {key}\b|^    {key} ", pages, re.M)]
    assert not missing, missing
