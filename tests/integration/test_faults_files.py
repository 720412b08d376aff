# SPDX-License-Identifier: Apache-2.0
"""The disk changes under the server: files cut while they are sent, roots deleted, replaced, switched."""

import os
import shutil
import time

import pytest

from harness import http
from harness.client import PATIENCE, eventually
from harness.variants import FILE_TABLES

pytestmark = pytest.mark.slow

SIZE = 50_000_000
SOON = PATIENCE  # files are looked at again after a second


@pytest.fixture(params=FILE_TABLES)
def table(request):
    return request.param


def receive_all(connection):
    received = 0
    try:
        while piece := connection.sock.recv(1 << 20):
            received += len(piece)
    except ConnectionResetError:
        pass
    return received


@pytest.mark.parametrize("left", [0, SIZE // 2])
def test_file_truncated_while_it_is_sent(start, table, left):
    """What was announced cannot be sent any more: the connection is cut, so that the client knows. Nothing is padded."""
    server = start(server=table, files={"a.txt": "text"})
    with open(server.root / "large.bin", "wb") as large:
        large.truncate(SIZE)
    with server.connect(receive_buffer=65536) as connection:
        connection.send(http.request("/large.bin"))
        assert http.read_head(connection.stream).header("Content-Length") == str(SIZE)
        os.truncate(server.root / "large.bin", left)
        assert receive_all(connection) < SIZE
    server.wait_for_log(r'file became shorter while it was sent conn=\d+ root=\S+ path="/large\.bin"')
    assert server.get("/a.txt").text == "text"


def test_small_file_truncated_between_requests(start, table):
    """For as long as the table trusts its entry an answer may be cut off; never padded, and not for longer."""
    server = start(server=table, files={"a.txt": "text" * 1000})
    ask = http.request("/a.txt", headers={"Connection": "close"})
    assert len(http.parse_one(server.raw(ask)).body) == 4000
    os.truncate(server.root / "a.txt", 10)

    def has_new_length():
        answer = server.raw_until_cut(ask)
        return not http.is_cut_off(answer) and len(http.parse_one(answer).body) == 10

    assert eventually(has_new_length, within=SOON)


def test_file_truncated_again_and_again(start, table):
    """Whatever the moment: a whole answer or a cut one, never a server that dies (SIGBUS) or hangs."""
    server = start(server=table, files={"a.txt": "x" * 300_000})
    path = server.root / "a.txt"
    for number in range(200):
        os.truncate(path, (number * 7919) % 300_000)
        try:
            assert server.get("/a.txt").status in (200, 404, 500)
        except AssertionError as cut:
            assert "early" in str(cut) or "closed without" in str(cut), cut


def test_file_replaced_while_it_is_sent(start, table):
    """rename() over it: who began with the old one gets the old one."""
    server = start(server=f"Workers 1\n{table}", files={"large.bin": b"1" * SIZE})
    with server.connect(receive_buffer=65536) as connection:
        connection.send(http.request("/large.bin"))
        http.read_head(connection.stream)
        (server.root / "new").write_bytes(b"2" * 1000)
        os.rename(server.root / "new", server.root / "large.bin")
        body = connection.stream.exactly(SIZE)
        assert body.count(b"1") == SIZE
    assert eventually(lambda: server.head("/large.bin").header("Content-Length") == "1000", within=SOON)
    assert server.get("/large.bin").body == b"2" * 1000


def test_file_deleted_while_it_is_sent(start, table):
    server = start(server=table, files={"large.bin": b"1" * SIZE})
    with server.connect(receive_buffer=65536) as connection:
        connection.send(http.request("/large.bin"))
        http.read_head(connection.stream)
        os.unlink(server.root / "large.bin")
        assert len(connection.stream.exactly(SIZE)) == SIZE
    assert eventually(lambda: server.get("/large.bin").status == 404, within=SOON)


def test_document_root_deleted_and_made_again(start, table):
    server = start(server=table, files={"a.txt": "old"})
    assert server.get("/a.txt").text == "old"
    shutil.rmtree(server.root)
    assert eventually(lambda: server.get("/a.txt").status in (403, 404, 500, 503), within=SOON)
    server.root.mkdir()
    (server.root / "a.txt").write_text("new")
    assert eventually(lambda: server.get("/a.txt").text == "new", within=SOON)


def test_document_root_replaced(start, table):
    server = start(server=table, files={"a.txt": "old", "gone.txt": "gone"})
    assert server.get("/gone.txt").status == 200
    new = server.folder / "new"
    new.mkdir()
    (new / "a.txt").write_text("new")
    os.rename(server.root, server.folder / "old")
    os.rename(new, server.root)
    assert eventually(lambda: server.get("/a.txt").text == "new", within=SOON)
    assert eventually(lambda: server.get("/gone.txt").status == 404, within=SOON)


def deploy(folder, release, **files):
    target = folder / release
    target.mkdir()
    for name, content in files.items():
        (target / name).write_text(content)
    (folder / "next").symlink_to(release)
    os.rename(folder / "next", folder / "current")


def test_document_root_switched_by_a_link(start, tmp_path, table):
    """The usual deploy: all of the new release within about a second, and never a mixture from then on."""
    deploy(tmp_path, "release0", a="0", b="0")
    server = start(server=table, host=f"DocumentRoot {tmp_path}/current")
    with server.connect() as connection:
        for number in range(1, 4):
            assert connection.request("/a").text == connection.request("/b").text == str(number - 1)
            deploy(tmp_path, f"release{number}", a=str(number), b=str(number))
            begin = time.monotonic()
            assert eventually(lambda: connection.request("/a").text == str(number), within=SOON)
            assert connection.request("/b").text == str(number)
            assert time.monotonic() - begin < SOON


def test_permission_taken_away(start, table):
    """The server runs as root in this test, so the file stays readable; it must still answer."""
    server = start(server=table, files={"a.txt": "text"})
    os.chmod(server.root / "a.txt", 0)
    assert server.get("/a.txt").status in (200, 403)


def test_file_becomes_a_directory(start, table):
    server = start(server=table, files={"a": "file"})
    assert server.get("/a").text == "file"
    os.unlink(server.root / "a")
    (server.root / "a").mkdir()
    (server.root / "a" / "index.html").write_text("directory")
    assert eventually(lambda: server.get("/a").status == 301, within=SOON)
    assert server.get("/a/").text == "directory"
