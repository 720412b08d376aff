# SPDX-License-Identifier: Apache-2.0
"""Content-Type: the table in monkey.mime, charsets, and what a file without a known extension gets."""

import pytest

MIME = """[MIMETYPES]
    html text/html
    txt text/plain
    css text/css
    js application/javascript
    json application/json
    xml application/xml
    svg image/svg+xml
    png image/png
    gz application/gzip
    latin text/plain; charset=iso-8859-1
"""

NAMES = ["a.html", "a.txt", "a.css", "a.js", "a.json", "a.xml", "a.svg", "a.png", "a.PNG", "a.HtMl", "a.tar.gz",
         "a.latin", "a.unknown", "noextension", "a.", ".well-known/x.txt", "dir.html/file"]


def start_with(start, server=""):
    return start(server=server, extra={"monkey.mime": MIME}, files={name: "x" for name in NAMES})


@pytest.fixture(scope="module")
def server(start_shared):
    return start_with(start_shared)


@pytest.mark.parametrize("name, wanted", [
    ("a.html", "text/html; charset=utf-8"),
    ("a.txt", "text/plain; charset=utf-8"),
    ("a.css", "text/css; charset=utf-8"),
    ("a.js", "application/javascript; charset=utf-8"),
    ("a.json", "application/json; charset=utf-8"),
    ("a.xml", "application/xml; charset=utf-8"),
    ("a.svg", "image/svg+xml; charset=utf-8"),
    ("a.png", "image/png"),
    ("a.PNG", "image/png"),
    ("a.HtMl", "text/html; charset=utf-8"),
    ("a.tar.gz", "application/gzip"),
    ("a.latin", "text/plain; charset=iso-8859-1"),
    ("a.unknown", "application/octet-stream"),
    ("noextension", "application/octet-stream"),
    ("a.", "application/octet-stream"),
    ("dir.html/file", "application/octet-stream"),
])
def test_type_by_extension(server, name, wanted):
    assert server.get("/" + name).header("Content-Type").replace("; ", ";").lower() == wanted.replace("; ", ";")


def test_default_charset_is_a_setting(start):
    server = start_with(start, "DefaultCharset iso-8859-15")
    assert server.get("/a.txt").header("Content-Type").endswith("charset=iso-8859-15")
    assert server.get("/a.latin").header("Content-Type").endswith("charset=iso-8859-1")


def test_default_mime_type_is_a_setting(start):
    server = start_with(start, "DefaultMimeType text/plain")
    for name in ("noextension", "a.unknown"):
        assert server.get("/" + name).header("Content-Type").startswith("text/plain")


def test_the_last_line_for_an_extension_wins(start):
    text = MIME + "    txt text/markdown\n"
    server = start(extra={"monkey.mime": text}, files={"a.txt": "x"})
    assert server.get("/a.txt").header("Content-Type").startswith("text/markdown")


def test_works_without_a_mime_file(start):
    """Common types are built in, or everything is the default type; the file is still served."""
    server = start(extra={"monkey.mime": "[MIMETYPES]\n"}, files={"a.html": "x"})
    response = server.get("/a.html")
    assert response.status == 200
    assert response.header("Content-Type")
