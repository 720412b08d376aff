# SPDX-License-Identifier: Apache-2.0
"""Preconditions and their precedence: RFC 9110 13."""

import email.utils
import os

import pytest

from harness import http
from harness.variants import FILE_TABLES

MTIME = 1_600_000_000


@pytest.fixture(scope="module", params=FILE_TABLES)
def server(start_shared, request):
    server = start_shared(server=request.param, files={"a.txt": "text"}, host="CacheControl *.txt max-age=60")
    os.utime(server.root / "a.txt", (MTIME, MTIME))
    return server


@pytest.fixture
def etag(server):
    return server.get("/a.txt").header("ETag")


def date(offset=0):
    return email.utils.formatdate(MTIME + offset, usegmt=True)


SAME, OLDER, NEWER = date(), date(-3600), date(3600)

# TAG stands for the file's entity tag.
CASES = [
    ("13.1.1", {"If-Match": "TAG"}, 200),
    ("13.1.1", {"If-Match": '"x", TAG'}, 200),
    ("13.1.1", {"If-Match": "*"}, 200),
    ("13.1.1", {"If-Match": '"x"'}, 412),
    ("13.1.1 strong comparison", {"If-Match": "W/TAG"}, 412),
    ("13.1.2", {"If-None-Match": "TAG"}, 304),
    ("13.1.2 weak comparison", {"If-None-Match": "W/TAG"}, 304),
    ("13.1.2", {"If-None-Match": '"x", "y",TAG'}, 304),
    ("13.1.2 comma within a tag", {"If-None-Match": '"x,TAG'}, 200),
    ("13.1.2", {"If-None-Match": "*"}, 304),
    ("13.1.2", {"If-None-Match": '"x"'}, 200),
    ("13.1.3", {"If-Modified-Since": SAME}, 304),
    ("13.1.3", {"If-Modified-Since": NEWER}, 304),
    ("13.1.3", {"If-Modified-Since": OLDER}, 200),
    ("13.1.3 malformed", {"If-Modified-Since": "yesterday"}, 200),
    ("13.1.3 rfc850", {"If-Modified-Since": "Sunday, 13-Sep-20 12:26:40 GMT"}, 304),
    ("13.1.3 asctime", {"If-Modified-Since": "Sun Sep 13 12:26:40 2020"}, 304),
    ("13.1.4", {"If-Unmodified-Since": SAME}, 200),
    ("13.1.4", {"If-Unmodified-Since": NEWER}, 200),
    ("13.1.4", {"If-Unmodified-Since": OLDER}, 412),
    ("13.1.4 malformed", {"If-Unmodified-Since": "yesterday"}, 200),
    ("13.2.2 If-Match before If-Unmodified-Since", {"If-Match": "TAG", "If-Unmodified-Since": OLDER}, 200),
    ("13.2.2 If-Match before If-Unmodified-Since", {"If-Match": '"x"', "If-Unmodified-Since": NEWER}, 412),
    ("13.2.2 If-None-Match before If-Modified-Since", {"If-None-Match": '"x"', "If-Modified-Since": NEWER}, 200),
    ("13.2.2 If-None-Match before If-Modified-Since", {"If-None-Match": "TAG", "If-Modified-Since": OLDER}, 304),
    ("13.2.2 both kinds", {"If-Match": "TAG", "If-None-Match": "TAG"}, 304),
    ("13.2.2 both kinds", {"If-Match": '"x"', "If-None-Match": "TAG"}, 412),
    ("13.2.2 both kinds", {"If-Unmodified-Since": SAME, "If-None-Match": "TAG"}, 304),
    ("13.2.2 both kinds", {"If-Unmodified-Since": OLDER, "If-Modified-Since": NEWER}, 412),
]


@pytest.mark.parametrize("fields, status", [
    pytest.param(fields, status, id=f"{section} {number}") for number, (section, fields, status) in enumerate(CASES)])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_precondition(server, etag, method, fields, status):
    headers = {name: value.replace("TAG", etag) for name, value in fields.items()}
    assert server.request("/a.txt", method, headers=headers).status == status


def test_304_carries_what_a_cache_needs(server, etag):
    """RFC 9110 15.4.5: the fields that a 200 would have had, and no content."""
    response = server.get("/a.txt", {"If-None-Match": etag})
    assert response.status == 304
    assert response.header("ETag") == etag
    assert response.header("Date")
    assert response.header("Cache-Control") == "max-age=60"
    assert response.header("Content-Length") in (None, "4")


def test_304_keeps_the_connection(server, etag):
    with server.connect() as connection:
        for _ in range(3):
            assert connection.request("/a.txt", headers={"If-None-Match": etag}).status == 304
        assert connection.request("/a.txt").text == "text"


def test_412_is_an_error_page(server):
    response = server.get("/a.txt", {"If-Match": '"x"'})
    assert response.status == 412
    assert response.header("Content-Type").startswith("text/html")


def test_preconditions_do_not_hide_404(server):
    """RFC 9110 13.2.1: they are looked at only where the answer would be a success."""
    assert server.get("/missing", {"If-None-Match": "*"}).status == 404
    assert server.get("/missing", {"If-Match": '"x"'}).status == 404


def test_preconditions_do_not_hide_405(server, etag):
    assert server.request("/a.txt", "POST", headers={"If-None-Match": etag}).status == 405


def test_several_fields_of_tags_are_one_list(server, etag):
    """RFC 9110 5.3. Judging only the first is allowed to miss; it must not break."""
    headers = [("If-None-Match", '"x"'), ("If-None-Match", etag)]
    assert server.get("/a.txt", headers).status in (200, 304)


def test_lines_of_a_list_count_as_one(start):
    """RFC 9110 5.3: the tag that matches may stand in a later line of If-None-Match."""
    server = start(files={"a.txt": "text"})
    etag = server.get("/a.txt").header("ETag")
    for name, status in (("If-None-Match", 304), ("If-Match", 200)):
        head = f'GET /a.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{name}: "other"\r\n{name}: {etag}\r\n\r\n'
        assert http.parse_one(server.raw(head.encode())).status == status


# -- a clock that is behind the file's


def seconds(answer, name):
    return email.utils.parsedate_to_datetime(answer.header(name)).timestamp()


@pytest.mark.parametrize("table", FILE_TABLES)
def test_file_from_the_future(start, table):
    """RFC 9110 8.8.2.1: never later than Date, and still a validator."""
    server = start(server=table, files={"a.txt": "text"})
    os.utime(server.root / "a.txt", (MTIME * 2, MTIME * 2))
    for target in ("/a.txt", "/a.txt", "/a.txt"):
        answer = server.get(target)
        assert seconds(answer, "Last-Modified") <= seconds(answer, "Date")
        assert seconds(answer, "Last-Modified") > seconds(answer, "Date") - 3600
        part = server.get(target, headers={"Range": "bytes=0-1"})
        assert part.status == 206 and seconds(part, "Last-Modified") <= seconds(part, "Date")
    assert server.get("/a.txt", headers={"If-Modified-Since": email.utils.formatdate(MTIME, usegmt=True)}).status == 200
    assert server.get("/a.txt", headers={"If-Modified-Since": email.utils.formatdate(MTIME * 3, usegmt=True)}).status in (200, 304)
    assert server.get("/a.txt", headers={"If-None-Match": answer.header("ETag")}).status == 304
