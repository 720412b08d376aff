# SPDX-License-Identifier: Apache-2.0
"""Forms and bodies that a service receives piece by piece: progress, back-pressure, bounds, and clients that leave."""

import socket

import pytest

from harness import duda, executable, http
from harness.client import eventually

TYPE = {"Content-Type": "multipart/form-data; boundary=xyz"}
END = b"--xyz--\r\n"
BOUND = (1 if executable.kind() == "release" else 16) << 20  # sanitizers keep what was freed


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    duda.build(folder, "received", level=3)
    return start_shared(server="Workers 1\nMaxBodySize 200M", **duda.config(folder, "received"))


def part(name, content, more=""):
    return f'--xyz\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'.encode() + content + b"\r\n"


def post(server, body, query="", headers=TYPE):
    return server.request(f"/received/upload{query}", "POST", headers=headers, body=body)


def counts(server):
    return dict(zip(("begun", "done", "left", "taken"), map(int, server.get("/received/counts").body.split()), strict=True))


@pytest.mark.parametrize("query", ["", "?late=1"])
def test_parts_arrive_with_their_names(server, query):
    body = part("a", b"xy") + part("f", b"\0" * 50_000, '; filename="t.bin"\r\nContent-Type: a/b') + part("empty", b"") + END
    answer = post(server, body, query)
    assert answer.status == 200
    assert answer.body == b"a|-|-|2|241\nf|t.bin|a/b|50000|0\nempty|-|-|0|0\n%d of %d" % (len(body), len(body))


def test_chunked_forms_have_no_total(server):
    body = part("a", b"x" * 100_000) + END
    headers = {**TYPE, "Transfer-Encoding": "chunked"}
    answer = post(server, http.chunked(body[:70_000], body[70_000:]), headers=headers)
    assert answer.body == b"a|-|-|100000|12000000\n%d of 0" % len(body)


def post_any(server, body, query="", headers=None):
    return server.request(f"/received/any{query}", "POST", headers=headers or {"Content-Type": "a/b"}, body=body)


@pytest.mark.parametrize("query", ["", "?late=1"])
@pytest.mark.parametrize("length", [0, 1, 16_384, 500_000])
def test_a_body_of_any_type_is_one_part(server, query, length):
    answer = post_any(server, b"\x01" * length, query)
    assert answer.status == 200
    assert answer.body == b"(body)|-|a/b|%d|%d\n%d of %d" % (length, length, length, length)


def test_a_chunked_body_of_no_type_is_one_part(server):
    answer = post_any(server, http.chunked(b"x" * 70_000, b"y" * 3), headers={"Transfer-Encoding": "chunked"})
    assert answer.body == b"(body)|-|-|70003|%d\n70003 of 0" % (70_000 * ord("x") + 3 * ord("y"))


def test_errors_of_a_body(server):
    for answer, why in (
            (post_any(server, b"x" * 11, "?length=10"), "too large"),
            (post_any(server, b"z\r\n", headers={"Transfer-Encoding": "chunked"}), "bad")):
        assert answer.status == 400
        assert f'"{why}"' in answer.body.decode()
    assert post_any(server, b"x" * 10, "?length=10").status == 200
    assert post_any(server, b"x" * 1000, "?stop=1").status == 403


def test_a_client_that_leaves_within_a_body_is_told_of_once(server):
    before = counts(server)
    with server.connect() as connection:
        connection.send(http.request("/received/any", "POST", headers={"Content-Length": "1000000"}) + b"x" * 1000)
        assert eventually(lambda: counts(server)["taken"] >= before["taken"] + 1000)
    assert eventually(lambda: counts(server)["left"] == before["left"] + 1)
    assert counts(server)["done"] == before["done"] + 1


def test_the_service_may_refuse_before_the_body(server):
    with server.connect() as connection:
        connection.send("POST /received/upload?no=1 HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=xyz\r\n"
                        "Content-Length: 1000000\r\nExpect: 100-continue\r\n\r\n")
        assert connection.response().status == 401


@pytest.mark.parametrize("body, query, why", [
    (part("a", b"x"), "", "bad"), (b"nothing", "", "bad"), (part("unwanted", b"x") + END, "", "stopped"),
    (part("a", b"x") * 3 + END, "?parts=2", "too large"), (part("a", b"x" * 11) + END, "?length=10", "too large")])
def test_errors(server, body, query, why):
    answer = post(server, body, query)
    assert answer.status == 400 and f'"{why}"' in answer.body.decode()


def test_bounds_are_exact(server):
    assert post(server, part("a", b"x" * 10) * 2 + END, "?parts=2&length=10").status == 200
    assert post(server, part("a", b"x") * 1000 + END).status == 200
    assert post(server, part("a", b"x") * 1001 + END).status == 400


def test_an_answer_in_the_middle_ends_it(server):
    before = counts(server)
    assert post(server, part("a", b"x" * 1000) + END, "?stop=1").status == 403
    assert eventually(lambda: counts(server)["done"] == before["done"] + 1)


def test_other_types_and_other_routes(server):
    assert post(server, b"a=b", headers={"Content-Type": "application/x-www-form-urlencoded"}).status == 415
    assert post(server, b"", headers={"Content-Type": "multipart/form-data"}).status == 415
    assert server.request("/received/usual", "POST", headers=TYPE, body=part("a", b"x") + END).body == b"-1"


@pytest.mark.parametrize("query", ["", "?late=1"])
def test_a_client_that_leaves_is_told_of_once(server, query):
    before = counts(server)
    with server.connect() as connection:
        connection.send(http.request(f"/received/upload{query}", "POST", headers={**TYPE, "Content-Length": "1000000"})
                        + part("a", b"x" * 1000))
        assert eventually(lambda: counts(server)["begun"] == before["begun"] + 1)
    assert eventually(lambda: counts(server)["left"] == before["left"] + 1)
    after = counts(server)
    assert after["done"] == before["done"] + 1


def test_what_the_service_does_not_take_stays_with_the_client(server):
    before = counts(server)
    with server.connect() as connection:
        connection.send(http.request("/received/upload?late=7", "POST", headers={**TYPE, "Content-Length": "100000000"})
                        + part("a", b"")[:-2])
        connection.sock.settimeout(1)
        sent = 0
        with pytest.raises(socket.timeout):
            while sent < 100_000_000:
                sent += connection.sock.send(b"x" * 65536)
        assert counts(server)["taken"] - before["taken"] <= 3 * 16384
        connection.reset()
    assert eventually(lambda: counts(server)["left"] == before["left"] + 1)


@pytest.mark.timed
def test_memory_stays_small(server):
    before, most = server.anonymous_bytes(), 0
    head, tail = part("f", b"", '; filename="f"')[:-2], b"\r\n" + END
    with server.connect() as connection:
        length = len(head) + (100 << 20) + len(tail)
        connection.send(http.request("/received/upload", "POST", headers={**TYPE, "Content-Length": str(length)}) + head)
        for _ in range(100):
            connection.send(b"x" * (1 << 20))
            most = max(most, server.anonymous_bytes())
        connection.send(tail)
        assert connection.response().body == b"f|f|-|104857600|12582912000\n%d of %d" % (length, length)
    assert most - before < BOUND
