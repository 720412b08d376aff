# SPDX-License-Identifier: Apache-2.0
"""Requests that wait and are answered by one event: each answer leaves whole, by one call and in one packet."""

import pytest

from harness import duda, process, system_calls

# LeakSanitizer does not work under ptrace.
pytestmark = pytest.mark.skipif(process.is_sanitized(), reason="a sanitizer's build cannot be traced")

WAITING, ROUNDS = 4, 10
SERVICE = """
#include "webservice.h"
DUDA_REGISTER("tests", "answers given together");
static duda_request_t *waiting[16];
static int count;
static void park(duda_request_t *dr)
{
    if (count == 16)
        return;
    response->wait(dr);
    waiting[count++] = dr;
}
static void go(duda_request_t *dr)
{
    int n = count;

    while (count > 0) {
        response->cont(waiting[--count]);
        %s
    }
    response->send(dr, 200, "text/plain", "%%d", n);
}
int duda_main()
{
    router->get("/park", park);
    router->get("/go", go);
    return 0;
}
"""
ANSWERS = {
    "whole": 'response->send(waiting[count], 200, "text/plain", "an answer");',
    "chunked": 'response->http_content_length(waiting[count], -1); response->http_status(waiting[count], 200); '
               'response->print(waiting[count], "an answer", 9); response->finalize(waiting[count], NULL);',
    "long": 'response->send(waiting[count], 200, "text/plain", "%*s", 5000, "an answer");',
}


@pytest.mark.parametrize("kind", ANSWERS)
def test_answers_of_one_event(start, tmp_path, kind):
    servers, peers, gone = [], [], []

    def starting(**config):
        servers.append(start(**config))
        return servers[0]

    def ask(connection):
        while len(peers) < WAITING:
            peers.append(servers[0].connect())
        for peer in peers:
            peer.send(b"GET /together/park HTTP/1.1\r\nHost: a\r\n\r\n")
        left = WAITING
        while left > 0:
            answer = connection.request("/together/go")
            assert answer.status == 200, servers[0].log()
            gone.append(int(answer.body))
            left -= gone[-1]
        for peer in peers:
            assert peer.response().body.endswith(b"an answer")

    duda.build(tmp_path / "services", SERVICE % ANSWERS[kind], name="together", level=3)
    counts = system_calls.count(starting, tmp_path / "calls", ask, ROUNDS, **duda.config(tmp_path / "services", "together"))
    for peer in peers:
        peer.close()
    answers = WAITING * ROUNDS + len(gone) - gone_before(gone)
    assert counts["send"] <= answers * (2 if kind == "chunked" else 1)


def gone_before(gone):
    """Calls of /go of the three rounds that only warm."""
    left, calls = 3 * WAITING, 0
    while left > 0:
        left -= gone[calls]
        calls += 1
    return calls
