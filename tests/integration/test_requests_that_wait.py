# SPDX-License-Identifier: Apache-2.0
"""A request that waits keeps the bytes that came and lends the rest of its buffer: nobody's bytes become another's."""

import random

import pytest

from harness import duda

WAITING = 60
RANDOM = random.Random(3)
SERVICE = """
#include "webservice.h"

DUDA_REGISTER("waiting", "answers later with what the head said");

static void later(void *arg)
{
    duda_request_t *dr = arg;

    if (request->validate_request(dr) != MK_TRUE)
        return;
    response->cont(dr);
    response->http_status(dr, 200);
    response->print(dr, dr->sr->uri.data, (int)dr->sr->uri.len);
    response->print(dr, " ", 1);
    response->print(dr, dr->sr->range.data, (int)dr->sr->range.len);
    response->end(dr, NULL);
}

static void wait(duda_request_t *dr)
{
    response->wait(dr);
    timer->after(300, later, dr);
}

static void hello(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "hello");
}

int duda_main()
{
    router->get("/wait", wait);
    router->get("/hello", hello);
    return 0;
}
"""


@pytest.fixture
def server(start, tmp_path):
    duda.build(tmp_path / "services", SERVICE, name="waiting", level=3)
    return start(**duda.config(tmp_path / "services", "waiting", server="Workers 1\nTimeout 60"))


def head(target, text):
    return f"GET /waiting{target} HTTP/1.1\r\nHost: a\r\nRange: {text}\r\n\r\n".encode()


def asked(number):
    return f"/wait?{number}", chr(ord("a") + number % 26) * RANDOM.choice((1, 30, 700, 2500, 5000))


def expect(connection, target, text):
    assert connection.response().body.decode() == f"/waiting{target} {text}"


def test_its_head_is_what_was_sent(server):
    questions = [asked(number) for number in range(WAITING)]
    links = [server.connect() for _ in questions]
    for link, question in zip(links, questions):
        link.send(head(*question))
        assert server.get("/waiting/hello").body == b"hello"  # another reads into what is left
    for link, question in zip(links, questions):
        expect(link, *question)


@pytest.mark.parametrize("size", [0, 900, 3000, 6000])
def test_what_is_pipelined_behind_it_is_kept(server, size):
    first, second, third = ("/wait?1", "x"), ("/wait?2", "y" * size), ("/wait?3", "z")
    with server.connect() as link, server.connect() as other:
        link.send(head(*first) + head(*second) + head(*third)[:20])
        other.send(head(*third))
        expect(link, *first)
        link.send(head(*third)[20:])
        expect(link, *second)
        expect(link, *third)
        expect(other, *third)


def test_what_comes_while_it_waits_is_answered_after_it(server):
    with server.connect() as link:
        for number in range(4):
            link.send(head(f"/wait?{number}", "a"))
            link.send(head("/hello", "b" * 3000))
            expect(link, f"/wait?{number}", "a")
            assert link.response().body == b"hello"


def test_one_that_has_left_takes_nothing_along(server):
    questions = [asked(number) for number in range(WAITING)]
    links = [server.connect() for _ in questions]
    for link, question in zip(links, questions):
        link.send(head(*question))
    assert server.get("/waiting/hello").body == b"hello"
    for link in links[::2]:
        link.close()
    for number in range(20):
        with server.connect() as link:
            link.send(head("/hello", "n" * 200 * number))
            assert link.response().body == b"hello"
    for link, question in list(zip(links, questions))[1::2]:
        expect(link, *question)
