# SPDX-License-Identifier: Apache-2.0
"""dudac watch: a saved file is built and served; an error leaves what runs."""

import json
import re
import shutil

import pytest

from harness import browser, dudac
from harness.process import is_sanitized

pytestmark = [pytest.mark.plain, pytest.mark.once("a program in Python")]

SOURCE = """\
#include "webservice.h"

DUDA_REGISTER("tests", "watched");

void answer(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "WORD");
    response->end(dr, NULL);
}

int duda_main()
{
    map->static_add("/", "answer");
    return 0;
}
"""


def test_a_saved_file(tmp_path):
    folder = tmp_path / "watched"
    folder.mkdir()
    source = folder / "main.c"
    (folder / "Makefile.in").write_text("NAME = watched\nOBJECTS = main.o\n")
    source.write_text(SOURCE.replace("WORD", "first"))
    with dudac.running(tmp_path, "watch", folder) as run:
        assert run.get("/watched/").body == b"first"
        source.write_text("no C\n")
        run.wait_for(lambda: "does not build" in run.errors(), "no error is printed")
        assert run.get("/watched/").body == b"first"
        source.write_text(SOURCE.replace("WORD", "the second"))
        run.wait_for(lambda: len(run.urls()) == 2, "nothing is built")
        assert run.get("/watched/").body == b"the second"
        assert run.urls()[0] == run.urls()[1]
        assert run.interrupt() == 0
        assert list(run.folder.iterdir()) == []


def page_state(run):
    return json.loads(run.get("/dudac/state.json").body)


def test_the_page_follows(tmp_path):
    folder = tmp_path / "watched"
    assert dudac.run(tmp_path, "new", "watched").returncode == 0
    source = folder / "main.c"
    whole = source.read_text()
    with dudac.running(tmp_path, "watch", folder) as run:
        run.wait_for(lambda: "Watch page" in run.output(), "no page is printed")
        assert 'src="/watched/"' in run.get("/dudac/").text
        first = page_state(run)
        assert first["error"] == ""
        source.write_text("no C\n")
        run.wait_for(lambda: page_state(run)["error"], "the page has no error")
        broken = page_state(run)
        assert "main.c:1" in broken["error"] and "does not build" in broken["error"] and broken["build"] == first["build"]
        source.write_text(whole)
        run.wait_for(lambda: page_state(run)["error"] == "", "the error stays")
        built = page_state(run)
        assert built["build"] > first["build"]
        (folder / "html" / "more.html").write_text("a page")
        run.wait_for(lambda: page_state(run)["build"] > built["build"], "the page is not shown again")
        assert len(run.urls()) == 2  # and nothing was built


def test_the_page_shows_an_error(tmp_path):
    folder = tmp_path / "watched"
    assert dudac.run(tmp_path, "new", "watched").returncode == 0
    with dudac.running(tmp_path, "watch", folder) as run:
        run.wait_for(lambda: "Watch page" in run.output(), "no page is printed")
        (folder / "main.c").write_text("no <C>\n")
        run.wait_for(lambda: page_state(run)["error"], "the page has no error")
        shown = browser.document(tmp_path, f"http://127.0.0.1:{run.port}/dudac/")
        assert "main.c:1" in shown and "watched does not build" in shown and '<pre role="alert">' in shown


def test_a_reload_answers_what_was_asked(tmp_path):
    folder = tmp_path / "watched"
    folder.mkdir()
    source = folder / "main.c"
    (folder / "Makefile.in").write_text("NAME = watched\nOBJECTS = main.o\n")
    source.write_text(SOURCE.replace("WORD", "first"))
    with dudac.running(tmp_path, "watch", folder) as run, dudac.Connection(("127.0.0.1", run.port)) as connection:
        assert connection.request("/watched/").text == "first"
        source.write_text(SOURCE.replace("WORD", "second"))
        run.wait_for(lambda: len(run.urls()) == 2, "nothing is built")
        assert connection.request("/watched/").text == "second"  # on the same connection: the server runs on


def test_a_service_that_cannot_be_loaded(tmp_path):
    folder = tmp_path / "watched"
    folder.mkdir()
    source = folder / "main.c"
    (folder / "Makefile.in").write_text("NAME = watched\nOBJECTS = main.o\n")
    source.write_text(SOURCE.replace("WORD", "first"))
    with dudac.running(tmp_path, "watch", folder) as run:
        source.write_text(SOURCE.replace('"answer")', '"missing")'))
        run.wait_for(lambda: "keeps what it has" in run.errors(), "no error is printed")
        run.wait_for(lambda: "missing" in page_state(run)["error"], "the page has no error")
        assert run.get("/watched/").body == b"first"
        source.write_text(SOURCE.replace("WORD", "second"))
        run.wait_for(lambda: len(run.urls()) == 2, "nothing is built")
        assert run.get("/watched/").body == b"second"


MISTAKES = """\
#include "webservice.h"

DUDA_REGISTER("tests", "watched");

void answer(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "WORD");
    response->end(dr, NULL);
}

void crash(duda_request_t *dr)
{
    *(volatile int *)0 = 1;
    answer(dr);
}

void loop(duda_request_t *dr)
{
    fclose(fopen("LOOPING", "w"));
    for (volatile int n = 0;; n++)
        ;
    answer(dr);
}

int duda_main()
{
    map->static_add("/crash", "crash");
    map->static_add("/loop", "loop");
    map->static_add("/", "answer");
    return 0;
}
"""


def mistakes_with(word, tmp_path):
    return MISTAKES.replace("WORD", word).replace("LOOPING", str(tmp_path / "looping"))


@pytest.fixture
def mistakes(tmp_path):
    folder = tmp_path / "watched"
    folder.mkdir()
    (folder / "Makefile.in").write_text("NAME = watched\nOBJECTS = main.o\n")
    (folder / "main.c").write_text(mistakes_with("first", tmp_path))
    return folder


def send(run, target):
    connection = dudac.Connection(("127.0.0.1", run.port))
    connection.send(f"GET {target} HTTP/1.1\r\nHost: a\r\n\r\n")
    return connection


@pytest.mark.skipif(is_sanitized(), reason="a sanitizer ends the process itself")
def test_the_page_shows_a_crash(tmp_path, mistakes):
    """Also of a service that was loaded anew, which is a copy in memory."""
    with dudac.running(tmp_path, "watch", mistakes) as run:
        (mistakes / "main.c").write_text(mistakes_with("second", tmp_path))
        run.wait_for(lambda: len(run.urls()) == 2, "nothing is built")
        with send(run, "/watched/crash") as connection:
            connection.rest_until_cut()
        run.wait_for(lambda: len(run.urls()) == 3, "it does not start again")
        shown = page_state(run)["error"]
        assert "Crash in service watched, call-back crash, request GET /watched/crash" in shown and "SIGSEGV" in shown
        assert "/proc/self" not in shown + run.errors()
        if shutil.which("addr2line"):
            line = MISTAKES.splitlines().index("    *(volatile int *)0 = 1;") + 1
            assert re.search(rf"crash at .*main\.c:{line}\n", shown)
        assert run.get("/watched/").body == b"second"


@pytest.mark.skipif(is_sanitized(), reason="a sanitizer ends the process itself")
def test_a_call_back_that_does_not_return(tmp_path, mistakes):
    with dudac.running(tmp_path, "watch", mistakes) as run, send(run, "/watched/loop") as connection:
        run.wait_for((tmp_path / "looping").exists, "it is not called")
        (mistakes / "main.c").write_text(mistakes_with("second", tmp_path))
        run.wait_for(lambda: len(run.urls()) == 2, "the saved file is not loaded")
        assert "Stuck in service watched, call-back loop, request GET /watched/loop" in run.errors()
        assert "a call-back does not return" in run.errors()
        assert run.get("/watched/").body == b"second"


def test_sessions_stay(tmp_path):
    folder = tmp_path / "watched"
    assert dudac.run(tmp_path, "new", "watched", "--template", "login").returncode == 0
    with dudac.running(tmp_path, "watch", folder) as run:
        if not has_session_files(run):
            pytest.skip("sessions end with the server where libsqlite3 is missing")
        answer = run.request("/watched/login", "POST", headers={"Content-Type": "application/json"},
                             body=b'{"name": "ann", "password": "banana"}')
        cookie = {"Cookie": answer.header("set-cookie").partition(";")[0]}
        assert run.request("/watched/me", headers=cookie).text == "ann"
        source = folder / "main.c"
        source.write_text(source.read_text().replace("dr, 200", "dr, 203"))
        run.wait_for(lambda: len(run.urls()) == 2, "nothing is built")
        assert run.get("/watched/me").status == 401 and run.request("/watched/me", headers=cookie).status == 203
        assert run.request("/watched/me", headers=cookie).text == "ann"


def has_session_files(run):
    """Is there a line of it in the configuration that dudac has written?"""
    return "SessionStore" in next(run.folder.glob("dudac-*/conf/plugins/duda/duda.conf")).read_text()


def test_after_a_service_that_was_skipped(tmp_path):
    folder = tmp_path / "watched"
    folder.mkdir()
    source = folder / "main.c"
    (folder / "Makefile.in").write_text("NAME = watched\n")
    source.write_text(SOURCE.replace("WORD", "first").replace("return 0", "return 5"))
    run = dudac.Running(tmp_path, ("watch", folder), {})
    try:
        run.wait_for(lambda: "skipped every service" in run.errors(), "the service is not skipped")
        source.write_text(SOURCE.replace("WORD", "second"))
        run.wait_for(run.urls, "nothing is started")
        assert run.get("/watched/").body == b"second"
    finally:
        assert run.interrupt() == 0
