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


def test_files_and_texts_keep_their_order(server, tmp_path):
    (tmp_path / "digits").write_text("0123456789")
    assert server.get(f"/basic/files?{tmp_path / 'digits'}=1").body == b"-1 234|0123456789|789"


def test_a_large_file(server, tmp_path):
    content = bytes(range(256)) * (16 * 1024)
    (tmp_path / "large").write_bytes(content)
    answer = server.get(f"/basic/whole?{tmp_path / 'large'}")
    assert answer.body == content and answer.header("Content-Length") == str(len(content))
    assert server.get("/basic/whole?/no/such/file").status == 404


def test_a_chunked_body_is_whole(server):
    with server.connect() as client:
        client.send(b"PUT /basic/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n")
        client.send(b"5\r\n text\r\n0\r\n\r\n")
        assert client.response().body == b"1 9 9 some text"


def test_a_body_above_the_limit_is_refused(start, tmp_path):
    duda.build(tmp_path / "services", "basic")
    server = start(**duda.config(tmp_path / "services", "basic", server="MaxBodySize 1K"))
    assert server.request("/basic/echo", "POST", body=b"x" * 2000).status == 413
    answer = server.raw(b"POST /basic/echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + b"400\r\n" + b"x" * 1024 + b"\r\n1\r\nx\r\n0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 413")


def test_an_unknown_length_ends_with_the_connection_for_old_clients(server):
    answer = server.raw(b"GET /basic/unknown HTTP/1.0\r\n\r\n")
    assert b"Transfer-Encoding" not in answer and answer.endswith(b"\r\n\r\nabc")


def test_a_service_sees_paths_that_were_escaped_decoded(server):
    assert server.get("/b%61sic/hell%6f").body == b"Hello world"
    assert server.get("/basic/../etc/passwd").status == 404
