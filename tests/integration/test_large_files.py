# SPDX-License-Identifier: Apache-2.0
"""Files over 4 GiB: lengths and offsets that do not fit into 32 bits."""

import os

import pytest

from harness import http
from harness.variants import FILE_TABLES

GIB = 1 << 30
SIZE = 5 * GIB + 12345
MARKS = {0: b"first", 2 * GIB - 3: b"2 GiB", 4 * GIB - 2: b"4 GiB", SIZE - 4: b"last"}


@pytest.fixture(scope="module", params=FILE_TABLES)
def server(start_shared, request):
    server = start_shared(server=request.param)
    with open(server.root / "sparse.bin", "wb") as sparse:
        sparse.truncate(SIZE)
        for offset, mark in MARKS.items():
            sparse.seek(offset)
            sparse.write(mark)
    yield server
    os.unlink(server.root / "sparse.bin")


def test_length_of_the_whole_file(server):
    assert server.head("/sparse.bin").header("Content-Length") == str(SIZE)


@pytest.mark.parametrize("offset", MARKS)
def test_range_around(server, offset):
    mark = MARKS[offset]
    last = offset + len(mark) - 1
    response = server.get("/sparse.bin", {"Range": f"bytes={offset}-{last}"})
    assert response.status == 206
    assert response.header("Content-Range") == f"bytes {offset}-{last}/{SIZE}"
    assert response.body == mark


def test_suffix(server):
    response = server.get("/sparse.bin", {"Range": "bytes=-4"})
    assert response.header("Content-Range") == f"bytes {SIZE - 4}-{SIZE - 1}/{SIZE}"
    assert response.body == b"last"


def test_open_range_over_the_border(server):
    response = server.get("/sparse.bin", {"Range": f"bytes={SIZE - 3_000_000}-"})
    assert len(response.body) == 3_000_000
    assert response.body.endswith(b"last")


def test_several_ranges_far_apart(server):
    response = server.get("/sparse.bin", {"Range": f"bytes=0-4,{4 * GIB - 2}-{4 * GIB + 2}"})
    assert response.status == 206
    assert b"first" in response.body and b"4 GiB" in response.body
    assert f"Content-Range: bytes {4 * GIB - 2}-{4 * GIB + 2}/{SIZE}".encode() in response.body


def test_unsatisfiable_behind_the_end(server):
    response = server.get("/sparse.bin", {"Range": f"bytes={SIZE}-"})
    assert response.status == 416
    assert response.header("Content-Range") == f"bytes */{SIZE}"


@pytest.mark.slow
def test_whole_file_is_sent(server):
    """Every byte is counted; the zeros between are not kept."""
    with server.connect(timeout=30) as connection:
        connection.send(http.request("/sparse.bin", headers={"Connection": "close"}))
        head = http.read_head(connection.stream)
        assert head.header("Content-Length") == str(SIZE)
        left = SIZE - len(connection.stream._buffer)
        buffer = bytearray(1 << 20)
        while True:
            count = connection.sock.recv_into(buffer)
            if not count:
                break
            left -= count
            tail = bytes(buffer[max(0, count - 4):count])
        assert left == 0
        assert tail.endswith(b"t")
