# SPDX-License-Identifier: Apache-2.0
"""The package sqlite: work on threads of the server, while its one worker serves others."""

import http.client
import threading

import pytest

from harness import duda, http as raw
from harness.client import eventually

WRITERS = 100
ROWS = 3


@pytest.fixture
def server(start, tmp_path):
    duda.require_package("sqlite")
    duda.build(tmp_path / "services", "packaged_later", name="db", level=3,
               flags=("-fcommon", f'-DDATABASE="{tmp_path / "rows.db"}"'))
    return start(server="Workers 1", **duda.config(tmp_path / "services", "db", duda={"PackagesRoot": duda.packages()}))


def add(server, text, path="/db/add"):
    return server.request(path, "POST", body=text)


def rows(server):
    count, *found = server.get("/db/list").text.splitlines()
    assert int(count) == len(found)
    return found


def counts(server, method="GET", path="/db/counts"):
    numbers = server.request(path, method).body.split()
    return dict(zip(("begun", "ends", "left"), map(int, numbers), strict=True))


def test_the_answer_follows_the_commit(server):
    assert add(server, b"milk").status == 201
    assert add(server, b"it's; DROP TABLE rows").status == 201
    assert rows(server) == ["milk", "it's; DROP TABLE rows"]


def test_work_that_fails_is_rolled_back(server):
    refused = add(server, b"never", "/db/fail")
    assert (refused.status, refused.text) == (500, "-1")
    assert rows(server) == []


def test_wrong_calls(server):
    assert server.get("/db/wrong").text == "-3"


def test_the_worker_serves_others_meanwhile(server):
    counts(server, "DELETE", "/db/gate")
    with server.connect() as connection:
        connection.send(raw.request("/db/add", "POST", body=b"slow"))
        assert eventually(lambda: counts(server)["begun"] == 1)
        assert rows(server) == []  # readers see what was committed
        counts(server, "PUT", "/db/gate")
        assert connection.response().status == 201
    assert rows(server) == ["slow"]


def test_a_lost_client_is_rolled_back(server):
    counts(server, "DELETE", "/db/gate")
    with server.connect() as connection:
        connection.send(raw.request("/db/add", "POST", body=b"gone"))
        assert eventually(lambda: counts(server)["begun"] == 1)
    assert eventually(lambda: counts(server)["left"] == 1)
    assert counts(server, "PUT", "/db/gate")["ends"] == 0
    assert eventually(lambda: counts(server)["ends"] == 1)
    assert rows(server) == []
    assert add(server, b"next").status == 201
    assert rows(server) == ["next"]


def _write(port, number, kept):
    """Add rows; those for which the queue has no room are tried again."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    turn, pause = 0, threading.Event()
    while turn < ROWS:
        connection.request("POST", "/db/add", body=f"{number}.{turn}")
        answer = connection.getresponse()
        answer.read()
        if answer.status == 201:
            kept.append(f"{number}.{turn}")
            turn += 1
        else:
            assert answer.status == 503
            pause.wait(0.02)
    connection.close()


def test_rows_of_100_writers(server):
    kept = []
    writers = [threading.Thread(target=_write, args=(server.port, n, kept)) for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(kept) == WRITERS * ROWS
    assert sorted(rows(server)) == sorted(kept)
