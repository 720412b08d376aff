# SPDX-License-Identifier: Apache-2.0
"""dudac test: the tests of a service, each with a server of its own and without a port."""

import signal

import pytest

from harness import dudac
from harness.client import eventually
from harness.process import is_sanitized

pytestmark = [pytest.mark.once("a program in Python"),
              pytest.mark.plain,
              pytest.mark.skipif(is_sanitized(), reason="the tests would have to be built with the sanitizers of the server")]

SERVICE = """\
#include "webservice.h"

DUDA_REGISTER("tests", "tested");

static int asked;

void count(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->http_header(dr, "X-Kind: a count");
    response->printf(dr, "%d", ++asked);
    response->end(dr, NULL);
}

void crash(duda_request_t *dr)
{
    (void)dr;
    abort();
}

void overrun(duda_request_t *dr)
{
    volatile char *block = malloc(8);

    block[dr->params[0].len + 8] = 1;
    free((void *)block);
    response->http_status(dr, 204);
    response->end(dr, NULL);
}

void keep(duda_request_t *dr)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/kept", self->datadir.data);
    response->http_status(dr, access(path, F_OK) == 0 ? 409 : 201);
    fclose(fopen(path, "w"));
    response->end(dr, NULL);
}

int duda_main()
{
    map->static_add("/count", "count");
    map->static_add("/crash", "crash");
    map->static_add("/overrun", "overrun");
    map->static_add("/keep", "keep");
    return 0;
}
"""

PASS = """\
#include "duda_test.h"

TEST(counts)
{
    const struct duda_answer *first = GET("/tested/count");

    EXPECT(first->status == 200);
    EXPECT_TEXT(duda_test_field(first, "x-kind"), "a count");
    EXPECT(duda_test_field(first, "x-none") == NULL);
    EXPECT_TEXT(GET("/tested/count")->body, "2");
    EXPECT_TEXT(first->body, "1");
}

TEST(has_a_server_of_its_own)
{
    EXPECT_TEXT(POST("/tested/count", "a body")->body, "1");
}

TEST(writes_to_a_copy)
{
    EXPECT(PUT("/tested/keep", "")->status == 201);
}

TEST(writes_to_another_copy)
{
    EXPECT(GET("/tested/keep")->status == 201);
}
"""

FAIL = """\
#include "duda_test.h"

TEST(a_condition) { EXPECT(GET("/tested/none")->status == 200); }
TEST(a_text) { EXPECT_TEXT(GET("/tested/count")->body, "5"); }
TEST(a_crash) { GET("/tested/crash"); }
TEST(a_question) { GET("no path"); }
TEST(nothing) { }
"""

@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "tested"
    (folder / "data").mkdir(parents=True)
    (folder / "Makefile.in").write_text("NAME = tested\nCFLAGS = -Wall -Wextra -Werror\n")
    (folder / "main.c").write_text(SERVICE)
    return folder


def test_tests_pass(tmp_path, folder):
    (folder / "more_test.c").write_text(PASS)
    done = dudac.run(tmp_path, "test", folder)
    assert done.returncode == 0 and "ok   more_test.c:counts\n" in done.stdout, done
    assert done.stdout.endswith("\n4 passed, 0 failed\n") and list((folder / "data").iterdir()) == []
    assert list((tmp_path / "temporary").iterdir()) == []


def test_tests_fail(tmp_path, folder):
    (folder / "more_test.c").write_text(FAIL)
    done = dudac.run(tmp_path, "test", folder)
    assert done.returncode == 1 and done.stdout.endswith("\n1 passed, 4 failed\n"), done
    for said in ('FAIL more_test.c:a_condition\n     more_test.c:3: not so: GET("/tested/none")->status == 200\n',
                 '     more_test.c:4: "1" instead of "5"\n', "     The test ended by SIGABRT.\n", "     GET no path: "):
        assert said in done.stdout


def test_an_error_of_memory(tmp_path, folder):
    (folder / "more_test.c").write_text('#include "duda_test.h"\nTEST(overrun) { EXPECT(GET("/tested/overrun")->status == 204); }\n')
    assert dudac.run(tmp_path, "test", folder).returncode == 0
    done = dudac.run(tmp_path, "test", folder, "--asan")
    assert done.returncode == 1 and "heap-buffer-overflow" in done.stdout and "main.c:" in done.stdout, done


def test_a_service_that_is_skipped(tmp_path, folder):
    (folder / "main.c").write_text(SERVICE.replace("return 0;\n}\n", "return 3;\n}\n"))
    (folder / "more_test.c").write_text(PASS)
    done = dudac.run(tmp_path, "test", folder)
    assert done.returncode == 1 and "duda_main() returned 3" in done.stdout and "0 passed, 4 failed" in done.stdout, done


def test_no_tests(tmp_path, folder):
    done = dudac.run(tmp_path, "test", folder)
    assert done.returncode == 1 and done.stdout.endswith("0 passed, 0 failed\n")


def test_tests_that_do_not_build(tmp_path, folder):
    (folder / "more_test.c").write_text("no C\n")
    done = dudac.run(tmp_path, "test", folder)
    assert done.returncode == 1 and "more_test.c:1" in done.stderr and "the tests do not build" in done.stderr


@pytest.mark.parametrize("words", [(), ("a", "b"), ("a", "--tsan"), ("a", "-V", "9")])
def test_what_is_not_understood(tmp_path, words):
    assert dudac.run(tmp_path, "test", *words).returncode == 2


def test_tests_do_not_disturb_the_service(tmp_path, folder):
    """Its default is all .c files, without those of tests."""
    (folder / "more_test.c").write_text(PASS)
    with dudac.running(tmp_path, "-w", folder) as run:
        assert run.get("/tested/count").text == "1"


def test_an_interrupt_ends_a_test(tmp_path, folder):
    (folder / "more_test.c").write_text('#include "duda_test.h"\n#include <stdio.h>\n#include <unistd.h>\n'
                                        f'TEST(waits) {{ fclose(fopen("{tmp_path}/began", "w")); for (;;) pause(); }}\n')
    run = dudac.Running(tmp_path, ("test", folder), {}, options=())
    try:
        eventually((tmp_path / "began").exists, within=dudac.WITHIN)
    finally:
        run.process.send_signal(signal.SIGINT)
        assert run.process.wait(dudac.WITHIN) == 1
    assert list(run.folder.iterdir()) == []
