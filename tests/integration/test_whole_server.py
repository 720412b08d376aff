# SPDX-License-Identifier: Apache-2.0
"""examples/from-nginx: a whole server as nginx has it and as Monkey has it, in one file each, asked the same."""

import contextlib
import re

import pytest

from harness import applications, certificates, peers, process
from harness.backend import Backend
from harness.client import free_ports
from harness.config import RIGHTS, write_files
from harness.named import Named

EXAMPLE = process.TREE / "examples" / "from-nginx"
TEXTS = {name: (EXAMPLE / f"{name}.conf").read_text() for name in ("nginx", "monkey")}
PLUGINS = ("tls", "http2", "compress", "logger", "status", "fastcgi", "rewrite", "dirlisting", "auth", "mandril", "file", "limit",
           "proxy_reverse")

pytestmark = [
    pytest.mark.skipif(not all(process.plugin(name) for name in PLUGINS), reason="not all plugins are built"),
    pytest.mark.once("an example beside nginx"),
]

FILES = {
    "www/index.html": "welcome", "www/a.css": "a { }", "www/big.css": "a { }\n" * 1000, "www/lost.html": "lost", "www/new.html": "new",
    "www/php/index.php": "<?php echo 'index ', $_GET['q'] ?? '';", "www/say.php": "<?php header('X-Way: php'); echo $_SERVER['REQUEST_URI'];",
    "www/files/one.txt": "one", "www/private/x.txt": "private", "www/people/index.html": "people", "shop/static/a.js": "var a;", "shop/down.html": "down",
    "users": "ada:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n",  # secret
}


def lines(name):
    return [line for line in TEXTS[name].splitlines() if line.strip()]


def test_it_is_shorter():
    assert len(lines("monkey")) < 0.6 * len(lines("nginx")), (len(lines("monkey")), len(lines("nginx")))
    assert len(TEXTS["monkey"]) < 0.5 * len(TEXTS["nginx"])


def serve_a_socket(conn, request):
    """What a WebSocket is to a proxy: bytes both ways after the 101."""
    conn.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello ")
    conn.send(request.target.encode() + b"\n")
    conn.close()


def answer(conn):
    while request := conn.request():
        if request.header("Upgrade"):
            return serve_a_socket(conn, request)
        names = ("Host", "X-Forwarded-Proto", "X-Forwarded-For")
        conn.answer("".join(f"{name}: {request.header(name)}\n" for name in names).encode() + request.target.encode(),
                    fields="X-Way: backend\r\nContent-Type: text/plain\r\n")
    return None


def replaced(name, places):
    text = TEXTS[name]
    for old, new in places:
        assert old in text, old
        text = text.replace(old, str(new))
    return text


@pytest.fixture
def places(tmp_path):
    """What stands for the folders and sockets of the example here, for both."""
    with applications.php_fpm(tmp_path / "php") as php, Backend(answer) as first, Backend(answer) as second:
        write_files(tmp_path, FILES)
        (tmp_path / "log").mkdir()
        pair = dict(re.findall(r"(?:RSA)?(\w+) (\S+)", certificates.issue("www.example.org", "shop.example.org").lines()))
        yield [("/srv/", f"{tmp_path}/"), ("/var/log/www", tmp_path / "log"), ("/etc/ssl/www.crt", pair["CertificateFile"]),
               ("/etc/ssl/www.key", pair["KeyFile"]), ("/run/php/php-fpm.sock", php.address.removeprefix("unix:")),
               ("/etc/www.users", tmp_path / "users"), ("127.0.0.1:8000", first.address), ("127.0.0.1:8001", second.address)]


@pytest.fixture
def monkey(places, start):
    plain, secure = free_ports(2)
    rights = "".join(f"    {key} {who}\n" for key, who in RIGHTS.items())
    listen = f"Listen 127.0.0.1:{plain}\n    Listen 127.0.0.1:{secure} tls h2\n    Workers 2\n{rights}"
    # ErrorLog is where the harness reads it.
    text = re.sub(r"ErrorLog .*", "ErrorLog stderr", replaced("monkey", [*places, ("Listen 80\n    Listen 443 tls h2\n", listen)]))
    mime = (process.TREE / "conf" / "monkey.mime").read_text()
    start(extra={"monkey.conf": text, "monkey.mime": mime, "sites/default": None, "plugins.load": None})
    return Named(plain, secure)


@pytest.fixture
def nginx(places, tmp_path):
    plain, secure = free_ports(2)
    (tmp_path / "nginx").mkdir()
    text = replaced("nginx", [*places, ("listen 80 default_server", f"listen 127.0.0.1:{plain} default_server"),
                              ("listen 443 ", f"listen 127.0.0.1:{secure} "), ("/run/nginx.pid", tmp_path / "nginx" / "pid")])
    with contextlib.ExitStack() as stack:
        stack.enter_context(peers.nginx_as_written(tmp_path / "nginx", text, plain))
        yield Named(plain, secure)


WWW, SHOP = "https://www.example.org", "https://shop.example.org"
ASKED = [  # url, options, fields that must be the same as well, is the body
    ("http://www.example.org/a.css?x=1", (), ("location",), False),
    ("http://shop.example.org/cart", (), ("location",), False),
    (f"{WWW}/", (), ("x-content-type-options",), True),
    (f"{WWW}/a.css", (), ("cache-control", "x-content-type-options"), True),
    (f"{WWW}/big.css", ("--header", "Accept-Encoding: gzip"), ("content-encoding", "vary"), False),
    (f"{WWW}/none", (), ("x-content-type-options",), True),
    (f"{WWW}/none.php", (), (), False),
    (f"{WWW}/old.html", (), (), False),
    (f"{WWW}/team", (), (), False),
    (f"{WWW}/people/", (), (), True),
    (f"{WWW}/php/?q=5", (), (), True),
    (f"{WWW}/say.php?a=b", (), ("x-way",), True),
    (f"{WWW}/files/one.txt", (), (), False),
    (f"{WWW}/files/one.txt", ("--user", "ada:secret"), (), True),
    (f"{WWW}/files/", ("--user", "ada:wrong"), (), False),
    (f"{WWW}/files/", ("--user", "ada:secret"), (), False),
    (f"{WWW}/private/x.txt", (), (), False),
    (f"{WWW}/metrics", (), (), False),
    (f"{WWW}/", ("--data", "x=1"), (), False),
    (f"{SHOP}/static/a.js", (), ("cache-control",), True),
    (f"{SHOP}/static/none", (), (), False),
    (f"{SHOP}/cart?id=1", (), ("x-way",), True),
    (f"{SHOP}/a%20b?c=%2F", (), ("x-way",), True),
    (f"{SHOP}/chat", ("--header", "Upgrade: websocket", "--header", "Connection: Upgrade"), ("upgrade",), True),
]


def test_both_answer_the_same(nginx, monkey):
    differences = []
    for url, options, fields, has_body in ASKED:
        theirs, ours = ((status, *map(found.get, fields), body if has_body else None)
                        for status, found, body in (peer.ask(url, *options) for peer in (nginx, monkey)))
        if ours != theirs:
            differences.append((url, options, theirs, ours))
    assert not differences, "\n".join(map(str, differences))


def test_a_rate_and_what_is_down(nginx, monkey):
    for peer in (nginx, monkey):
        statuses = peer.statuses(f"{SHOP}/api/x", 20)
        assert statuses[:5] == [200] * 5 and 429 in statuses, statuses


def test_files_are_listed_and_metrics_told(monkey):
    assert "one.txt" in monkey.ask(f"{WWW}/files/", "--user", "ada:secret")[2]
    assert "monkey_requests_total" in monkey.ask(f"{WWW}/metrics")[2]
