# SPDX-License-Identifier: Apache-2.0
"""dudac watch: a saved file is built and served; an error leaves what runs."""

import pytest

from harness import dudac

pytestmark = pytest.mark.plain

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
        assert run.interrupt() == 0
        assert list(run.folder.iterdir()) == []


def test_sessions_stay(tmp_path):
    folder = tmp_path / "watched"
    assert dudac.run(tmp_path, "new", "watched", "--template", "login").returncode == 0
    with dudac.running(tmp_path, "watch", folder) as run:
        if not has_session_files(run):
            pytest.skip("sessions end with the server where libsqlite3 is missing")
        answer = run.request("/watched/login", "POST", body=b'{"name": "ann", "password": "banana"}')
        cookie = {"Cookie": answer.header("set-cookie").partition(";")[0]}
        assert run.request("/watched/me", headers=cookie).text == "ann"
        source = folder / "main.c"
        source.write_text(source.read_text().replace("dr, 401", "dr, 403"))
        run.wait_for(lambda: len(run.urls()) == 2, "nothing is built")
        assert run.get("/watched/me").status == 403
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
