# SPDX-License-Identifier: Apache-2.0
"""Files as they are sent: content, type, length, validators; with every way to keep them open."""

import os
import re
import time

import pytest

from harness.client import eventually
from harness.variants import FILE_TABLES

FILES = {
    "index.html": "<p>welcome", "a.txt": "text", "empty.txt": "", "no-extension": "x",
    "small.bin": bytes(range(256)), "16k.bin": b"s" * 16384, "16k1.bin": b"t" * 16385, "large.bin": b"l" * 3_000_000,
    "with blank.txt": "blank", "ünï.txt": "unicode", "100%.txt": "percent", "a?b.txt": "question", "semi;colon.txt": "semi",
    "deep/er/and/deeper/file.txt": "deep",
}


@pytest.fixture(scope="module", params=FILE_TABLES)
def server(start_shared, request):
    return start_shared(server=request.param, files=FILES)


def content(name):
    return FILES[name].encode() if isinstance(FILES[name], str) else FILES[name]


@pytest.mark.parametrize("name", [name for name in FILES if name.isascii() and re.fullmatch(r"[\w./-]+", name)])
def test_file_arrives_whole(server, name):
    for _ in range(3):  # from the disk, and from whatever keeps it
        response = server.get("/" + name)
        assert response.status == 200
        assert response.body == content(name)
        assert response.framing == "length"


@pytest.mark.parametrize("target, name", [
    ("/with%20blank.txt", "with blank.txt"),
    ("/%C3%BCn%c3%af.txt", "ünï.txt"),
    ("/100%25.txt", "100%.txt"),
    ("/a%3Fb.txt", "a?b.txt"),
    ("/semi;colon.txt", "semi;colon.txt"),
    ("/semi%3Bcolon.txt", "semi;colon.txt"),
    ("/%61.txt", "a.txt"),
    ("//a.txt", "a.txt"),
    ("/deep//er/./and/deeper/../deeper/file.txt", "deep/er/and/deeper/file.txt"),
    ("/deep%2Fer%2fand/deeper/file.txt", "deep/er/and/deeper/file.txt"),
])
def test_path_is_decoded_once_and_normalised(server, target, name):
    response = server.get(target)
    assert response.status == 200
    assert response.body == content(name)


def test_a_file_has_all_its_fields(server):
    response = server.get("/a.txt")
    mtime = int((server.root / "a.txt").stat().st_mtime)
    assert response.date("Last-Modified") == mtime
    assert abs(response.date("Date") - time.time()) < 3
    assert response.header("Accept-Ranges") == "bytes"
    assert response.header("Content-Length") == "4"
    assert response.header("Server").startswith("Monkey")


def test_the_etag_is_strong(server):
    """RFC 9110 8.8.3"""
    assert re.fullmatch(r'"[\x21\x23-\x7e]+"', server.get("/a.txt").header("ETag"))


def test_etags_of_different_files_differ(server):
    tags = [server.get(f"/{name}").header("ETag") for name in ("a.txt", "empty.txt", "small.bin", "16k.bin", "16k1.bin")]
    assert len(set(tags)) == len(tags)


def test_date_field_never_stands_still(server):
    first = server.get("/a.txt").date("Date")
    assert eventually(lambda: server.get("/a.txt").date("Date") > first)


def test_missing_file_is_404(server):
    for _ in range(2):
        response = server.get("/missing.txt")
        assert response.status == 404
        assert response.header("Content-Type").startswith("text/html")


def test_a_file_is_no_directory(server):
    assert server.get("/a.txt/").status == 404
    assert server.get("/a.txt/b").status == 404


def test_new_file_is_seen_within_a_second(server):
    name = f"new{time.monotonic_ns()}.txt"
    assert server.get("/" + name).status == 404
    (server.root / name).write_text("new")
    assert eventually(lambda: server.get("/" + name).status == 200)


def test_removed_file_is_gone_within_a_second(server):
    path = server.root / f"old{time.monotonic_ns()}.txt"
    path.write_text("old")
    assert eventually(lambda: server.get("/" + path.name).status == 200)
    path.unlink()
    assert eventually(lambda: server.get("/" + path.name).status == 404)


def test_rewritten_file_is_seen_with_another_etag(server):
    """Same length, same second: the ETag must tell them apart all the same."""
    path = server.root / f"changed{time.monotonic_ns()}.txt"
    path.write_text("one")
    assert eventually(lambda: server.get("/" + path.name).status == 200)
    with server.connect() as connection:  # one worker, whose table is one
        before = connection.request("/" + path.name)
        stat = path.stat()
        path.write_text("two")
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1_000_000))
        assert eventually(lambda: connection.request("/" + path.name).header("ETag") != before.header("ETag"))
        assert connection.request("/" + path.name).text == "two"


def test_file_that_grows_never_tears(server):
    """The length that was announced is what is sent, whatever is appended meanwhile."""
    path = server.root / f"log{time.monotonic_ns()}.txt"
    with open(path, "wb", buffering=0) as log:
        for number in range(60):
            log.write(b"line\n" * 500)
            body = server.get("/" + path.name)
            assert body.status in (200, 404)
            if body.status == 200:
                assert body.body == b"line\n" * (len(body.body) // 5)


def test_many_files_at_once(server):
    """More files than any table keeps open."""
    folder = server.root / "many"
    folder.mkdir(exist_ok=True)
    for number in range(1500):
        (folder / f"{number}.txt").write_text(str(number))
    for _ in range(2):
        for start in range(0, 1500, 500):
            with server.connect() as connection:
                for number in range(start, start + 500):
                    assert connection.request(f"/many/{number}.txt").text == str(number)
    assert server.open_descriptors() < 1400


def test_unreadable_kinds_of_files_are_refused(server):
    """A FIFO or a socket must neither be sent nor hold the worker."""
    fifo = server.root / f"fifo{time.monotonic_ns()}"
    os.mkfifo(fifo)
    assert server.get("/" + fifo.name).status in (403, 404)
