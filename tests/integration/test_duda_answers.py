# SPDX-License-Identifier: Apache-2.0
"""Requests and answers of a service of Duda."""

import pytest

from harness import duda


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    duda.build(folder, "basic")
    return start_shared(**duda.config(folder, "basic", files={"basic/hello": "a file", "plain.txt": "plain"}))


def test_a_service_answers(server):
    answer = server.get("/basic/")
    assert (answer.status, answer.body) == (200, b"Hello world")
    assert answer.header("Content-Type") == "text/plain" and answer.header("Content-Length") == "11"


def test_a_service_comes_before_files(server):
    assert server.get("/basic/hello").body == b"Hello world"
    assert server.get("/plain.txt").body == b"plain"


def test_an_answer_has_no_type_unless_the_service_sets_one(server):
    assert server.get("/basic/echo").header("Content-Type") is None


def test_head_has_no_body(server):
    answer = server.head("/basic/hello")
    assert answer.status == 200 and answer.body == b"" and answer.header("Content-Length") == "11"


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_a_body_is_terminated(server, method):
    assert server.request("/basic/echo", method, body=b"some text").body == b"1 9 9 some text"


def test_a_large_body_is_whole(server):
    body = b"x" * 100000
    assert server.request("/basic/echo", "POST", body=body).body == b"1 100000 100000 " + body


def test_a_request_without_a_body(server):
    assert server.get("/basic/echo").body == b"0 -1 0 NULL"


def test_a_large_answer_of_many_pieces(server):
    assert server.get("/basic/large").body == b"".join(b"%09d\n" % i for i in range(100000))


def test_a_service_may_write_its_own_head(server):
    answer = server.get("/basic/own")
    assert (answer.status, answer.header("X-Own"), answer.body) == (202, "yes", b"hello")


def test_an_answer_in_pieces_is_chunked(server):
    answer = server.get("/basic/stream")
    assert answer.header("Transfer-Encoding") == "chunked" and answer.body == b"one two -1"


def test_an_unknown_length_is_chunked(server):
    answer = server.get("/basic/unknown")
    assert answer.header("Transfer-Encoding") == "chunked" and answer.body == b"abc"


def test_fields_are_found_by_their_whole_name(server):
    answer = server.get("/basic/fields", headers={"User-Agent": "me", "X-A": "abcd"})
    assert answer.body == b"[ me][me][] 0 0 1"


def test_a_type_by_extension(server):
    answer = server.get("/basic/type")
    assert answer.body == b"-1 0" and answer.header("Content-Type").startswith("text/css")
