# SPDX-License-Identifier: Apache-2.0
"""Answers of level 3: whole ones, validators, cookies, streams and events."""

import json

import pytest

from harness import duda, http
from harness.client import eventually


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    duda.build(folder, "answers3", level=3)
    return start_shared(server="Workers 1", **duda.config(folder, "answers3"))


def test_a_text_is_sent_in_place_of_what_was_queued(server):
    answer = server.get("/answers3/send")
    assert (answer.status, answer.body, answer.all("Content-Type")) == (201, b"text 7", ["text/plain"])
    assert answer.all("X-Kept") == ["1"] and answer.header("Content-Length") == "6"


def test_answers_that_none_can_be(server):
    answer = server.get("/answers3/wrong")
    assert answer.body == b"10" and answer.header("X-Evil") is None and answer.all("Content-Type") == ["text/plain"]


def test_redirects(server):
    answer = server.get("/answers3/redirect?to=/there%3Fa=1")
    assert (answer.status, answer.header("Location"), answer.body) == (303, "/there?a=1", b"")


@pytest.mark.parametrize("query, more", [("", {}), ("?detail=No%20%22books%22%0Aleft", {"detail": 'No "books"\nleft'})])
def test_problems(server, query, more):
    answer = server.get("/answers3/problem" + query)
    assert answer.status == 422 and answer.header("Content-Type") == "application/problem+json"
    assert json.loads(answer.body) == {"title": "Out of stock", "status": 422, **more}


def test_what_a_client_has_already(server):
    first = server.get("/answers3/page?version=1")
    tag, date = first.header("ETag"), first.header("Last-Modified")
    assert first.body == b"the page" and date == "Sun, 09 Sep 2001 01:46:40 GMT"
    again = server.get("/answers3/page?version=1", headers={"If-None-Match": tag})
    assert (again.status, again.body, again.header("ETag")) == (304, b"", tag)
    assert server.get("/answers3/page?version=2", headers={"If-None-Match": tag}).status == 200
    assert server.get("/answers3/page", headers={"If-Modified-Since": date}).status == 304
    assert server.get("/answers3/page").header("ETag") is None
    for version, status in (("1", 200), ("2", 412)):
        assert server.request(f"/answers3/page?version={version}", "PUT", headers={"If-Match": tag}).status == status


def test_cookies(server):
    answer = server.get("/answers3/cookies", headers={"Cookie": "b=2; a=1"})
    assert answer.body == b"5 1"
    assert [{part.strip() for part in line.split(";")} for line in answer.all("Set-Cookie")] == [
        {"theme=dark", "Path=/", "SameSite=Lax"},
        {"__Host-id=1", "Path=/", "Max-Age=60", "SameSite=Strict", "Secure", "HttpOnly"},
        {"old=", "Path=/x", "Domain=example.com", "Max-Age=0", "SameSite=Lax"},
        {"p=1", "Path=/", "SameSite=None", "Secure", "Partitioned"}]
    assert server.get("/answers3/cookies").body == b"5 NULL"
    server.wait_for_log(r'cookie->put\("a"\): its same_site is not Lax, Strict or None')
    server.wait_for_log(r'cookie->put\("a"\): SameSite=None needs Secure')


# ---- streams


@pytest.mark.parametrize("pieces", [0, 1, 20])
def test_a_stream_has_all_pieces(server, pieces):
    answer = server.get(f"/answers3/stream?pieces={pieces}")
    assert answer.status == 200 and answer.body == b"a" * (65536 * pieces)
    assert server.request("/answers3/stream?pieces=3", "HEAD").status == 200


def test_a_stream_waits_for_its_client(server):
    with server.connect(receive_buffer=65536) as connection:
        connection.send(http.request("/answers3/stream?pieces=600"))
        seen = []

        def is_still():
            seen.append(int(server.get("/answers3/streamed").body))
            return len(seen) > 5 and seen[-1] > 0 and len(set(seen[-5:])) == 1

        assert eventually(is_still)
        assert seen[-1] < 600
        assert len(connection.response().body) == 600 * 65536


# ---- events


def ended(server):
    return [int(word) for word in server.get("/answers3/ended").body.split()]


@pytest.mark.parametrize("fields, said", [({}, "none"), ({"Last-Event-ID": "6"}, "6")])
def test_events(server, fields, said):
    before = ended(server)[0]
    answer = server.get("/answers3/events?close=1", headers=fields)
    assert answer.header("Content-Type") == "text/event-stream" and answer.header("X-Hook") == "1"
    assert answer.body == f"event: hello\nid: 7\ndata: {said}\n\ndata: two\ndata: lines\n\n".encode()
    assert eventually(lambda: ended(server) == [before + 1, 200])


def test_events_end_with_their_client(server):
    before = ended(server)[0]
    with server.connect() as connection:
        connection.send(http.request("/answers3/events"))
        seen = b""
        while b"data: lines" not in seen:
            seen += connection.sock.recv(65536)
    assert eventually(lambda: ended(server)[0] == before + 1)


def test_a_slow_client_gets_no_more_events_than_fit(server):
    answer = server.get("/answers3/busy")
    assert answer.body == b"data: " + b"x" * 39999 + b"\n\nevent: busy\ndata: \n\n"


def test_an_answer_that_has_begun_stays(server):
    assert server.get("/answers3/late").body == b"x"
