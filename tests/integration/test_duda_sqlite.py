# SPDX-License-Identifier: Apache-2.0
"""The package sqlite: the calls of 2012, and pools of level 3, from which no committed row is lost."""

import http.client
import threading

import pytest

from harness import duda

WRITERS = 100


@pytest.fixture
def serve(start, tmp_path):
    """Starts a service of tests/integration/duda with a database in the folder of the test."""
    duda.require_package("sqlite")

    def run(source, level):
        duda.build(tmp_path / "services", source, name="db", level=level,
                   flags=("-fcommon", f'-DDATABASE="{tmp_path / "rows.db"}"'))
        return start(**duda.config(tmp_path / "services", "db", duda={"PackagesRoot": duda.packages()}))

    return run


def test_the_calls_of_2012(serve):
    server = serve("packaged_sqlite", 1)
    assert server.get("/db/rows").text == "row n=1;row n=2; 1 1.5 one 2 2.5 two done 0 -1"
    assert server.get("/db/wrong").text == "all refused"
    assert server.get("/db/close").text == "closed once"


def test_transactions(serve):
    server = serve("packaged_todo", 3)
    assert server.request("/db/add", "POST", body=b"milk").status == 201
    assert server.request("/db/add", "POST", body=b"it's; DROP TABLE todo").status == 201
    assert server.request("/db/fail", "POST", body=b"never").text == "rolled back"
    assert server.request("/db/lost", "POST", body=b"gone").text == "lost"
    assert server.get("/db/full").text == "-1"
    assert server.request("/db/add", "POST", body=b"bread").status == 201
    assert server.get("/db/list").text == "milk\nit's; DROP TABLE todo\nbread\n"
    assert server.get("/db/wrong").text == "all refused"


def _write(port, number, kept, is_over):
    """Add rows until the server is gone; those that it has acknowledged are kept."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        for turn in range(1000):
            if is_over.is_set():
                return
            text = f"{number}.{turn}"
            connection.request("POST", "/db/add", body=text)
            answer = connection.getresponse()
            answer.read()
            if answer.status == 201:
                kept.append(text)
    except (OSError, http.client.HTTPException):
        pass


def test_no_committed_row_is_lost_when_the_server_is_killed(serve):
    server = serve("packaged_todo", 3)
    kept, is_over = [], threading.Event()
    writers = [threading.Thread(target=_write, args=(server.port, n, kept, is_over)) for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    enough = threading.Event()
    for _ in range(600):
        if len(kept) > 2 * WRITERS or enough.wait(0.1):
            break
    server.kill()
    is_over.set()
    for writer in writers:
        writer.join()
    assert len(kept) > WRITERS
    rows = serve("packaged_todo", 3).get("/db/list").text.splitlines()
    assert not set(kept) - set(rows)
    assert len(rows) == len(set(rows)) and len(rows) <= len(kept) + WRITERS
