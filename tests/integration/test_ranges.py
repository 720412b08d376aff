# SPDX-License-Identifier: Apache-2.0
"""Ranges: RFC 9110 14. What is sent is compared byte for byte."""

import email.utils
import os
import re

import pytest

from harness.variants import FILE_TABLES

DATA = bytes(range(256)) * 400  # 102,400 bytes
SIZE = len(DATA)
MTIME = 1_600_000_000


@pytest.fixture(scope="module", params=FILE_TABLES)
def server(start_shared, request):
    server = start_shared(server=request.param, files={"data.bin": DATA, "empty.bin": "", "one.bin": "1"})
    os.utime(server.root / "data.bin", (MTIME, MTIME))
    return server


def ranged(server, value, target="/data.bin", method="GET", **headers):
    fields = {"Range": value, **{name.replace("_", "-"): text for name, text in headers.items()}}
    return server.request(target, method, headers=fields)


def parts_of(response):
    """The parts of a multipart/byteranges body as (first, last, size, bytes): RFC 9110 14.6."""
    boundary = re.fullmatch(r'multipart/byteranges; *boundary="?([\w\'()+,./:=?-]{1,70})"?',
                            response.header("Content-Type"))
    assert boundary, response.header("Content-Type")
    mark = b"--" + boundary[1].encode()
    body = response.body if response.body.startswith(mark) else response.body[len(b"\r\n"):]
    assert body.startswith(mark)
    assert body.endswith(b"\r\n" + mark + b"--\r\n") or body.endswith(b"\r\n" + mark + b"--")
    parts = []
    at = 0
    while not body.startswith(mark + b"--", at):
        head_end = body.index(b"\r\n\r\n", at)
        head = body[at + len(mark):head_end].decode()
        assert re.search(r"\r\nContent-Type: application/octet-stream", head, re.I)
        place = re.search(r"\r\nContent-Range: bytes (\d+)-(\d+)/(\d+)", head, re.I)
        first, last, size = map(int, place.groups())
        start = head_end + 4
        end = start + last - first + 1
        assert body[end:end + 2] == b"\r\n"
        parts.append((first, last, size, body[start:end]))
        at = end + 2
    return parts


SINGLE = [
    ("bytes=0-0", 0, 0),
    ("bytes=0-499", 0, 499),
    ("bytes=500-999", 500, 999),
    (f"bytes={SIZE - 1}-{SIZE - 1}", SIZE - 1, SIZE - 1),
    ("bytes=100-", 100, SIZE - 1),
    ("bytes=0-", 0, SIZE - 1),
    (f"bytes=100-{SIZE + 500}", 100, SIZE - 1),
    ("bytes=100-99999999999999999999999", 100, SIZE - 1),
    ("bytes=-1", SIZE - 1, SIZE - 1),
    ("bytes=-500", SIZE - 500, SIZE - 1),
    (f"bytes=-{SIZE + 1}", 0, SIZE - 1),
    ("bytes=-99999999999999999999999", 0, SIZE - 1),
    ("BYTES=0-9", 0, 9),
    ("bytes=0-9,5-14", 0, 14),
    ("bytes=0-9,10-19", 0, 19),
    ("bytes= 0-9 , 5-14", 0, 14),
    (f"bytes=0-9,{SIZE}-", 0, 9),
    ("bytes=0-0,0-0,0-0", 0, 0),
]


@pytest.mark.parametrize("value, first, last", SINGLE)
def test_one_range(server, value, first, last):
    response = ranged(server, value)
    assert response.status == 206
    assert response.header("Content-Range") == f"bytes {first}-{last}/{SIZE}"
    assert response.body == DATA[first:last + 1]
    assert response.header("ETag")
    assert response.header("Content-Type") == "application/octet-stream"


MULTIPLE = [
    ("bytes=0-9,20-29", [(0, 9), (20, 29)]),
    ("bytes=20-29,0-9", [(20, 29), (0, 9)]),
    ("bytes=0-0,-1", [(0, 0), (SIZE - 1, SIZE - 1)]),
    ("bytes=0-9,5-14,30-39", [(0, 14), (30, 39)]),
    (f"bytes=0-9,{SIZE}-,30-39", [(0, 9), (30, 39)]),
    ("bytes=0-49999,60000-", [(0, 49999), (60000, SIZE - 1)]),
    ("bytes=0-0,10-10,20-20,30-30,40-40", [(n, n) for n in range(0, 50, 10)]),
    ("bytes=0-9,,20-29,", [(0, 9), (20, 29)]),
]


@pytest.mark.parametrize("value, wanted", MULTIPLE)
def test_several_ranges(server, value, wanted):
    response = ranged(server, value)
    assert response.status == 206
    assert response.header("Content-Range") is None
    assert parts_of(response) == [(first, last, SIZE, DATA[first:last + 1]) for first, last in wanted]


def test_several_ranges_on_a_kept_connection(server):
    with server.connect() as connection:
        for value, wanted in MULTIPLE:
            assert len(parts_of(connection.request("/data.bin", headers={"Range": value}))) == len(wanted)


IGNORED = [
    ("another unit", "pages=0-9"),
    ("no unit", "0-9"),
    ("no ranges", "bytes="),
    ("backwards", "bytes=9-0"),
    ("no number", "bytes=a-b"),
    ("sign", "bytes=+0-9"),
    ("only a dash", "bytes=-"),
    ("no dash", "bytes=9"),
    ("one bad among good ones", "bytes=0-9,x-y"),
    ("two dashes", "bytes=0--9"),
    ("blank within", "bytes=0 -9"),
    ("nine ranges apart", "bytes=" + ",".join(f"{n * 100}-{n * 100 + 9}" for n in range(9))),
    ("a thousand ranges", "bytes=" + ",".join(f"{n * 10}-{n * 10 + 1}" for n in range(1000))),
    ("a thousand equal ranges", "bytes=" + ",".join(["0-"] * 1000)),
]


@pytest.mark.parametrize("value", [pytest.param(value, id=name) for name, value in IGNORED])
def test_whole_file_instead(server, value):
    """RFC 9110 14.2: an invalid Range is ignored; too many ranges are an attack (14.2, 17.15)."""
    response = ranged(server, value)
    assert response.status == 200
    assert response.body == DATA


@pytest.mark.parametrize("value", [f"bytes={SIZE}-", f"bytes={SIZE}-{SIZE + 9}", "bytes=-0",
                                   "bytes=99999999999999999999-", f"bytes={SIZE}-,{SIZE + 5}-"])
def test_unsatisfiable_range_is_416(server, value):
    """RFC 9110 15.5.17"""
    response = ranged(server, value)
    assert response.status == 416
    assert response.header("Content-Range") == f"bytes */{SIZE}"


def test_416_keeps_the_connection(server):
    with server.connect() as connection:
        assert connection.request("/data.bin", headers={"Range": f"bytes={SIZE}-"}).status == 416
        assert connection.request("/one.bin").text == "1"


def test_empty_file_has_no_satisfiable_range(server):
    assert ranged(server, "bytes=0-", "/empty.bin").status in (200, 416)
    assert ranged(server, "bytes=0-0", "/empty.bin").status in (200, 416)


def test_one_byte_file(server):
    assert ranged(server, "bytes=0-", "/one.bin").body == b"1"


def test_head_ignores_range(server):
    """RFC 9110 14.2: defined for GET only."""
    response = ranged(server, "bytes=0-9", method="HEAD")
    assert response.status == 200
    assert response.header("Content-Length") == str(SIZE)


def test_range_on_an_error_is_ignored(server):
    assert ranged(server, "bytes=0-9", "/missing").status == 404


def date(offset=0):
    return email.utils.formatdate(MTIME + offset, usegmt=True)


def test_if_range_with_the_tag(server):
    etag = server.get("/data.bin").header("ETag")
    assert ranged(server, "bytes=0-9", If_Range=etag).status == 206


@pytest.mark.parametrize("validator", ['"other"', "*", date(-1), date(+1), "nonsense"])
def test_if_range_that_does_not_hold_gives_the_whole_file(server, validator):
    """RFC 9110 13.1.5: an exact match is needed, dates included."""
    response = ranged(server, "bytes=0-9", If_Range=validator)
    assert response.status == 200
    assert response.body == DATA


def test_if_range_with_a_weak_tag_does_not_hold(server):
    etag = server.get("/data.bin").header("ETag")
    assert ranged(server, "bytes=0-9", If_Range="W/" + etag).status == 200


def test_if_range_with_the_date(server):
    assert ranged(server, "bytes=0-9", If_Range=date()).status == 206


def test_if_range_that_does_not_hold_hides_416(server):
    assert ranged(server, f"bytes={SIZE}-", If_Range='"other"').status == 200


def test_preconditions_come_before_ranges(server):
    """RFC 9110 13.2.2"""
    etag = server.get("/data.bin").header("ETag")
    assert ranged(server, "bytes=0-9", If_None_Match=etag).status == 304
    assert ranged(server, f"bytes={SIZE}-", If_None_Match=etag).status == 304
    assert ranged(server, "bytes=0-9", If_Match='"x"').status == 412
    assert ranged(server, "bytes=0-9", If_Match=etag).status == 206


def test_resume_off_serves_no_ranges(start):
    server = start(server="Resume off", files={"data.bin": DATA})
    response = ranged(server, "bytes=0-9")
    assert response.status == 200
    assert response.body == DATA
    assert response.header("Accept-Ranges") in (None, "none")


def test_several_ranges_where_the_site_sets_the_type(start):
    """RFC 9110 15.3.7.2: without its boundary in Content-Type nobody can take a multipart answer apart."""
    server = start(host="Header Content-Type text/x-own", files={"a.txt": "0123456789" * 10})
    response = server.get("/a.txt", {"Range": "bytes=0-1,50-51"})
    assert (response.status, response.header("Content-Type"), len(response.body)) == (200, "text/x-own", 100)
    response = server.get("/a.txt", {"Range": "bytes=0-1"})
    assert (response.status, response.header("Content-Type"), response.text) == (206, "text/x-own", "01")
