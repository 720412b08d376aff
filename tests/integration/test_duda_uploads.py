# SPDX-License-Identifier: Apache-2.0
"""Large bodies for services: they lie in a file, and services of all levels see their bytes."""

import hashlib
import os
import pathlib
import subprocess
import zlib

import pytest

from harness import duda, executable
from harness.client import eventually

MEGABYTE = 1 << 20
BOUND = MEGABYTE if executable.kind() == "release" else 16 * MEGABYTE  # sanitizers keep what was freed

SERVICE = r"""
#include "webservice.h"

DUDA_REGISTER("tests", "large bodies");

static unsigned long sum(const unsigned char *bytes, unsigned long len)
{
    unsigned long a = 1, b = 0; /* Adler-32 */

    for (unsigned long i = 0; i < len; i++) {
        a = (a + bytes[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

void show(duda_request_t *dr)
{
    const mk_pointer body = dr->sr->data;

    if (body.data && body.data[body.len])
        abort();
    response->http_status(dr, 200);
    response->printf(dr, "%ld %lu", request->content_length(dr),
                     sum((unsigned char *)body.data, body.len));
    response->end(dr, NULL);
}

void copy(duda_request_t *dr)
{
    unsigned long len;
    char *data = request->get_data(dr, &len);

    dr->sr->data.data[0] = '!'; /* its own */
    response->http_status(dr, 200);
    response->printf(dr, "%lu %c%c", len, data[0], dr->sr->data.data[0]);
    mem->free(data);
    response->end(dr, NULL);
}

int duda_main()
{
    map->static_add("/show", "show");
    map->static_add("/copy", "copy");
    return 0;
}
"""


@pytest.fixture
def uploads(start, tmp_path):
    def uploads(spool=None, most="200M"):
        duda.build(tmp_path / "services", SERVICE, name="uploads")
        settings = {"SpoolDirectory": spool} if spool else {}
        return start(server=f"Workers 1\nMaxBodySize {most}", **duda.config(tmp_path / "services", "uploads", duda=settings))

    return uploads


def adler(pieces):
    value = 1
    for piece in pieces:
        value = zlib.adler32(piece, value)
    return value


def upload(server, pieces, framing, after_each=lambda: None):
    with server.connect() as connection:
        connection.send(f"POST /uploads/show HTTP/1.1\r\nHost: a\r\n{framing}\r\n\r\n")
        for piece in pieces:
            connection.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" if "chunked" in framing else piece)
            after_each()
        if "chunked" in framing:
            connection.send(b"0\r\n\r\n")
        return connection.response()


@pytest.mark.timed
@pytest.mark.parametrize("framing", ["Content-Length: 104857600", "Transfer-Encoding: chunked"])
def test_memory_stays_small(uploads, framing):
    server = uploads()
    piece = hashlib.sha256(b"x").digest() * 32768
    assert server.request("/uploads/show", "POST", body=piece).status == 200
    before, most = server.anonymous_bytes(), []
    answer = upload(server, [piece] * 100, framing, lambda: most.append(server.anonymous_bytes()))
    assert answer.body == b"%d %d" % (100 * MEGABYTE, adler([piece] * 100))
    assert max([*most, server.anonymous_bytes()]) - before < BOUND


@pytest.mark.parametrize("size", [1, 256 * 1024, 256 * 1024 + 1, 512 * 1024])
def test_both_sides_of_the_bound(uploads, size):
    server = uploads()
    body = os.urandom(size)
    assert server.request("/uploads/show", "POST", body=body).body == b"%d %d" % (size, adler([body]))
    assert server.request("/uploads/copy", "POST", body=b"a" * size).body == b"%d a!" % size


def test_a_body_beyond_the_bound_of_the_site(uploads):
    server = uploads(most="1M")
    assert upload(server, [b"x" * 65536] * 15, "Transfer-Encoding: chunked").status == 200
    assert server.request("/uploads/show", "POST", body=b"x" * (MEGABYTE + 1)).status == 413


def test_a_client_that_leaves_frees_its_file(uploads):
    server = uploads()

    def files():
        folder = pathlib.Path(f"/proc/{server.process.pid}/fd")
        return sum("(deleted)" in os.readlink(entry) for entry in folder.iterdir() if entry.is_symlink())

    before = files()
    with server.connect() as connection:
        connection.send("POST /uploads/show HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + "x" * 500_000)
        assert eventually(lambda: files() == before + 1)
    assert eventually(lambda: files() == before)


def test_a_folder_that_is_missing(uploads, tmp_path):
    server = uploads(spool=tmp_path / "none")
    assert server.request("/uploads/show", "POST", body=b"x" * 1000).status == 200
    assert server.request("/uploads/show", "POST", body=b"x" * 300_000).status == 503
    server.wait_for_log("a body cannot be kept in .*/none: No such file")


@pytest.fixture
def small_disk(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs needs root")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "monkey-test", disk], check=False).returncode != 0:
        pytest.skip("no tmpfs can be mounted here")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk(uploads, small_disk):
    server = uploads(spool=small_disk)
    for _ in range(2):
        with server.connect() as connection:
            connection.send("POST /uploads/show HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
            connection.send("x" * 600_000)
            assert connection.response().status == 507
        server.wait_for_log("No space left on device")
        assert server.request("/uploads/show", "POST", body=b"x" * 300_000).status == 200
