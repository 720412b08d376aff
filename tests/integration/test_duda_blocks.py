# SPDX-License-Identifier: Apache-2.0
"""Call-backs that keep their worker, or return without an answer: what is logged, and what clients get."""

import pytest

from harness import duda, http
from harness.executable import is_sanitized
from harness.variants import SCHEDULERS


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    duda.build(folder, "blocks3", level=3)
    return start_shared(**duda.config(folder, "blocks3", server="Workers 1\n"))


def test_a_call_back_that_blocks_is_reported(server):
    assert server.get("/blocks3/loop").body == b"at last"
    server.wait_for_log(r"service 'blocks3': call-back GET /loop blocked its worker ms=\d{3,}")


def test_one_of_no_request_is_reported(server):
    assert server.get("/blocks3/late").body == b"ok"
    server.wait_for_log(r"service 'blocks3': call-back of no request blocked its worker ms=\d{3,}")


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("how, stack", [("spin", r' stack="blocks3\.duda\+0x[0-9a-f]+ '), ("doze", "")])
def test_nobody_waits_for_a_call_back_that_does_not_return(start, tmp_path, scheduler, how, stack):
    """It is reported while it blocks, and its worker gets no connections until it is back."""
    duda.build(tmp_path, "blocks3", level=3)
    server = start(**duda.config(tmp_path, "blocks3", server=f"Workers 3\nScheduler {scheduler}"))
    told = tmp_path / "told"
    stack = "" if is_sanitized() else stack  # a signal waits there until the next call of the system
    report = rf"callback blocks worker=\d.* service=blocks3 callback=\"GET /{how}\"{stack}"
    with server.connect(timeout=60) as blocked:
        blocked.send(http.request(f"/blocks3/{how}?file={told}"))
        server.wait_for_log(report)
        for _ in range(60):
            assert server.get("/blocks3/none").status == 404
        assert "blocked its worker" not in server.log()
        told.touch()
        assert blocked.response().body == b"at last"
    server.wait_for_log(r"blocked its worker ms=\d")
    assert server.log().count("callback blocks worker=") == 1
    for _ in range(60):
        assert server.get("/blocks3/none").status == 404


@pytest.mark.parametrize("method, body", [("GET", b""), ("POST", b"x" * 100000)])
def test_a_forgotten_request_is_answered_at_once(server, method, body):
    """HandlerTimeout is a minute."""
    answer = server.request("/blocks3/forget", method, body=body, timeout=50)
    assert answer.status == 500 and b"never seen" not in answer.body
    server.wait_for_log(f"service 'blocks3': call-back {method} /forget called neither end")
    assert server.get("/blocks3/waits").status == 200


def test_who_waits_is_not_forgotten(server):
    answer = server.get("/blocks3/waits")
    assert answer.status == 200 and answer.body == b"waited" and answer.header("Content-Type") is None
    assert server.get("/blocks3/threads").body == b"resumed"


def test_a_text_without_an_end_is_refused(server):
    assert server.get("/blocks3/enormous", timeout=50).body == b"-1 -1 -1 -1 0 0"
