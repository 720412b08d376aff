# SPDX-License-Identifier: Apache-2.0
"""What is asked of a server before it is measured, and the files that it is to send."""

import gzip
import json
import os
import random
import subprocess

import entrants

TYPES = {"css": "text/css", "js": "javascript", "html": "text/html", "svg": "image/svg+xml", "json": "application/json",
         "woff2": "", "webp": ""}
COMPRESSED = ("css", "js", "html", "svg", "json")
FILES = [f"file{number}.{extension}" for number, extension in zip(range(20), [*TYPES] * 3)]
WORDS = [f"word{number * number}" for number in range(300)]
SUM = "a=13&b=42"


def make_files(root):
    """Twenty of 3 to 288 KB, those of text with compressed ones beside them."""
    folder, chance = os.path.join(root, "static"), random.Random(1)
    os.makedirs(folder)
    for number, name in enumerate(FILES):
        path, size = os.path.join(folder, name), 3000 + 15000 * number
        is_text = name.rpartition(".")[2] in COMPRESSED
        with open(path, "wb") as file:
            file.write(" ".join(chance.choices(WORDS, k=size)).encode()[:size] if is_text else chance.randbytes(size))
        if is_text:
            subprocess.run(["brotli", "-q", "9", path], check=True)
            subprocess.run(["gzip", "-9", "-k", path], check=True)


def _ask(setup, kind, path, *words):
    """Head and body of an answer."""
    scheme = "https" if kind in ("tls", "h2") else "http"
    version = {"h2": "--http2", "h2c": "--http2-prior-knowledge"}.get(kind, "--http1.1")
    done = subprocess.run(["curl", "-sikf", "-m", "20", version, *words, f"{scheme}://127.0.0.1:{setup.at(kind)}/{path}"],
                          capture_output=True, check=False)
    assert done.returncode == 0, f"curl {path}: {done.returncode}"
    head, _, body = done.stdout.replace(b"HTTP/1.1 100 Continue\r\n\r\n", b"").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/2" if kind in ("h2", "h2c") else b"HTTP/1.1")
    return head.decode().lower(), body


def _decode(head, body):
    if "\r\ncontent-encoding: gzip" in head:
        return gzip.decompress(body)
    if "\r\ncontent-encoding: br" in head:
        return subprocess.run(["brotli", "-dc"], input=body, capture_output=True, check=True).stdout
    return body


def _check_list(head, body):
    with open(entrants.ITEMS, encoding="utf-8") as lines:
        first = [line.rstrip("\n").split("\t") for line in lines][:5]
    listed = json.loads(body)
    assert "\r\ncontent-type: application/json" in head and listed["count"] == 5
    assert [item["total"] for item in listed["items"]] == [int(f[3]) * int(f[4]) * 7 for f in first]
    assert [item["tags"] for item in listed["items"]] == [f[6].split(",") for f in first]


def sums(setup):
    assert _ask(setup, "http", "baseline11?b=5&a=21")[1] == b"26" and _ask(setup, "http", "pipeline")[1] == b"ok"


def lists(setup, kind="http"):
    _check_list(*_ask(setup, kind, "json/5?m=7"))


def compressed_lists(setup):
    head, body = _ask(setup, "http", "json/5?m=7", "-H", "Accept-Encoding: gzip, br")
    assert "\r\ncontent-encoding: " in head
    _check_list(head, _decode(head, body))


def sums_of_http_2(setup, kind):
    assert _ask(setup, kind, f"baseline2?{SUM}")[1] == b"55"


def uploads(setup):
    for size in (0, 1, 500000):
        done = subprocess.run(["curl", "-sf", "-m", "20", "--data-binary", "@-", f"http://127.0.0.1:{setup.port}/upload"],
                              input=b"\xff" * size, capture_output=True, check=False)
        assert done.stdout == str(size).encode()


def files(setup):
    for name in FILES:
        extension = name.rpartition(".")[2]
        head, body = _ask(setup, "http", f"static/{name}", "-H", "Accept-Encoding: br;q=1, gzip;q=0.8")
        with open(os.path.join(setup.root, "static", name), "rb") as file:
            assert _decode(head, body) == file.read()
        assert TYPES[extension] in head, f"{name}: {head}"


def nothing(_setup):
    """Of WebSockets the client checks each message."""
