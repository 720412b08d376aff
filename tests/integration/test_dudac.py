# SPDX-License-Identifier: Apache-2.0
"""dudac -w: builds, starts, prints where, and leaves nothing behind."""

import os
import re
import shutil
import socket
import ssl
import urllib.request

import pytest

from harness import dudac, executable
from harness.process import is_sanitized

pytestmark = [
    pytest.mark.plain,
    pytest.mark.once("a program in Python; with a server of each word size, and one that watches its memory", and_in=["asan", "m32"]),
]

MAKEFILE = """\
NAME    = hello
CC      = gcc
CFLAGS  = -Wall -g
LDFLAGS =
DEFS    = -DWORD='"word"'
INCDIR  = -I./parts
OBJECTS = main.o more/answer.o
"""
MAIN = """\
#include "webservice.h"
#include "shared.h"

DUDA_REGISTER("tests", "hello");

void crash(duda_request_t *dr)
{
    (void)dr;
    *(volatile int *)0 = 1;
}

int duda_main()
{
    number = RESULT;
    map->static_add("/crash", "crash");
    map->static_add("/answer", "answer");
    return RESULT;
}
"""
ANSWER = """\
#include "webservice.h"
#include "shared.h"

void answer(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%s %d %s", WORD, number, self->datadir.data);
    response->end(dr, NULL);
}
"""

HOW_IT_WAS_BUILT = """\
#include "webservice.h"
DUDA_REGISTER("tests", "built");
void answer(duda_request_t *dr)
{
    response->http_status(dr, 200);
#if defined(NDEBUG) && defined(__OPTIMIZE__)
    response->printf(dr, "fast");
#else
    response->printf(dr, "checked");
#endif
    response->end(dr, NULL);
}
int duda_main()
{
    map->static_add("/", "answer");
    return 0;
}
"""


@pytest.fixture
def folder(tmp_path):
    """A service of two files whose header defines a variable."""
    folder = tmp_path / "a service"
    for name in ("html", "data", "parts", "more"):
        (folder / name).mkdir(parents=True)
    (folder / "Makefile.in").write_text(MAKEFILE)
    (folder / "main.c").write_text(MAIN.replace("RESULT", "0"))
    (folder / "more" / "answer.c").write_text(ANSWER)
    (folder / "parts" / "shared.h").write_text("int number;\n")
    (folder / "html" / "page.txt").write_text("page")
    return folder


def files(folder):
    return sorted(str(path) for path in folder.rglob("*"))


def test_a_service_runs_and_leaves_nothing_behind(tmp_path, folder):
    before = files(folder)
    with dudac.running(tmp_path, "-p", "0", "-w", folder) as run:
        assert run.output().startswith("dudac ")
        assert run.urls() == [f"http://localhost:{run.port}/hello/"]
        assert run.get("/hello/answer").body.decode() == f"word 0 {folder}/data/"
        assert run.get("/hello/page.txt").body == b"page"
        assert run.interrupt() == 0
        assert files(run.folder) == []
    assert files(folder) == before


def test_tls(tmp_path, folder):
    if not (executable.plugin("tls") or executable.plugin("mbedtls")):
        pytest.skip("this build has no TLS")
    with dudac.running(tmp_path, "-S", "-w", folder) as run:
        context = ssl.create_default_context(cafile=tmp_path / "home" / "keys" / "cert.pem")
        assert run.urls()[0].startswith("https://localhost:")
        with urllib.request.urlopen(f"https://127.0.0.1:{run.port}/hello/page.txt", timeout=30, context=context) as answer:
            assert answer.read() == b"page"


def test_nothing_is_written_to_the_folder(tmp_path, folder):
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = files(folder)
    with dudac.running(tmp_path, "-w", folder) as run:
        assert run.get("/hello/answer").status == 200
    assert files(folder) == before


@pytest.mark.skipif(is_sanitized(), reason="a sanitizer ends the process itself")
def test_a_crash_is_reported(tmp_path, folder):
    (folder / "logs").mkdir()
    with dudac.running(tmp_path, "-w", folder) as run:
        with dudac.Connection(("127.0.0.1", run.port)) as connection:
            connection.send("GET /hello/crash?a=1 HTTP/1.1\r\nHost: a\r\n\r\n")
            connection.rest_until_cut()
        assert run.process.wait(dudac.WITHIN) == 1
        assert "the server ended by SIGSEGV" in run.errors()
        assert "Crash in service hello, call-back crash, request GET /hello/crash?a=1\n" in run.errors()
        if shutil.which("addr2line"):
            line = MAIN.splitlines().index("    *(volatile int *)0 = 1;") + 1
            assert re.search(rf"Crash in .*\n    crash at .*main\.c:{line}\n", run.errors())
    report, = (folder / "logs").glob("crash_report.*")
    assert "Its last lines" in report.read_text() and "call-back crash" in report.read_text()


CRASHES = """\
#include "webservice.h"
#include <stdlib.h>
DUDA_REGISTER("tests", "crashes");
static int deep(int n)
{
    volatile char room[1000];
    room[0] = (char)n;
    return n >= 0 ? deep(n / 2 + 1) + room[0] : 0;
}
void full(duda_request_t *dr)
{
    dr->socket = deep(1);
}
void jumps(duda_request_t *dr)
{
    void (*volatile nowhere)(void) = (void (*)(void))2;

    nowhere();
    dr->socket = -1;
}
void end_of(duda_request_t *dr)
{
    (void)dr;
    abort();
}
void aborts(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->end(dr, end_of);
}
int duda_main()
{
    map->static_add("/full", "full");
    map->static_add("/aborts", "aborts");
    map->static_add("/jumps", "jumps");
    return 0;
}
"""


@pytest.mark.skipif(is_sanitized(), reason="a sanitizer ends the process itself")
@pytest.mark.parametrize("name, function", [("full", "deep"), ("aborts", "end_of"), ("jumps", None)])
def test_a_crash_elsewhere(tmp_path, name, function):
    """Where the stack is full, and in a function that is called at the end of a request."""
    folder = tmp_path / "crashes"
    folder.mkdir()
    (folder / "Makefile.in").write_text("NAME = crashes\nOBJECTS = main.o\n")
    (folder / "main.c").write_text(CRASHES)
    with dudac.running(tmp_path, "-w", folder) as run:
        with dudac.Connection(("127.0.0.1", run.port)) as connection:
            connection.send(f"GET /crashes/{name} HTTP/1.1\r\nHost: a\r\n\r\n")
            connection.rest_until_cut()
        assert run.process.wait(dudac.WITHIN) == 1
    assert f"Crash in service crashes, call-back {name}" in run.errors()
    if function and shutil.which("addr2line"):
        assert f"\n    {function} at " in run.errors()


@pytest.mark.parametrize("words, code, said", [
    ([], 2, "no option"), (["-f"], 2, "-f"), (["-h"], 0, "Usage"), (["-v"], 0, "Version"), (["-s"], 0, "installed"),
    (["-g", "-F"], 1, "-F"), (["-r"], 1, "DUDAC_HOME"), (["-R"], 0, ""), (["-w", "nowhere"], 1, "not a folder"),
    (["-w", "."], 1, "Makefile.in"),
    (["doctor"], 0, "the plugin duda")])
def test_exit_codes(tmp_path, words, code, said):
    done = dudac.run(tmp_path, *words)
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stdout.startswith("dudac ") and said in done.stdout + done.stderr


def test_an_error_of_the_compiler(tmp_path, folder):
    (folder / "main.c").write_text("no C\n")
    done = dudac.run(tmp_path, "-w", folder)
    assert done.returncode == 1 and "main.c:1" in done.stderr and "hello does not build" in done.stderr


def test_a_service_that_refuses_to_start(tmp_path, folder):
    (folder / "main.c").write_text(MAIN.replace("RESULT", "3"))
    done = dudac.run(tmp_path, "-M", "Listen=127.0.0.1:0", "-w", folder)
    assert done.returncode == 1 and "skipped" in done.stderr and "Service Up" not in done.stdout


def test_a_port_in_use(tmp_path, folder):
    with dudac.running(tmp_path, "-w", folder) as run:
        done = dudac.run(tmp_path, "-p", run.port, "-w", folder)
        assert done.returncode == 1 and f"port {run.port} is used" in done.stderr


@pytest.mark.parametrize("options, is_reached", [(("-p", "0"), False), (("-M", "Port=0"), False), (("-M", "Listen=0"), True)])
def test_other_machines_do_not_reach_it(tmp_path, folder, options, is_reached):
    run = dudac.Running(tmp_path, ("-w", folder), {}, options)
    try:
        run.wait_for(run.urls, "dudac brings no service up")
        assert run.get("/hello/page.txt").status == 200
        with socket.socket() as other:  # another address of this machine
            assert (other.connect_ex(("127.0.0.2", run.port)) == 0) == is_reached
    finally:
        assert run.interrupt() == 0


@pytest.mark.parametrize("words, answer", [((), "checked"), (("--release",), "fast")])
def test_a_release(tmp_path, words, answer):
    folder = tmp_path / "built"
    folder.mkdir()
    (folder / "Makefile.in").write_text("NAME = built\nOBJECTS = main.o\nCFLAGS = -O0\n")
    (folder / "main.c").write_text(HOW_IT_WAS_BUILT)
    with dudac.running(tmp_path, "run", folder, *words) as run:
        assert run.get("/built/").text == answer


def test_a_change_is_built(tmp_path, folder):
    for word in ("one", "two"):
        (folder / "Makefile.in").write_text(MAKEFILE.replace("word", word))
        with dudac.running(tmp_path, "-w", folder) as run:
            assert run.get("/hello/answer").body.startswith(word.encode())
    assert os.listdir(folder / "data") == []


def test_a_machine_without_programs(tmp_path):
    done = dudac.run(tmp_path, "doctor", env={"PATH": str(tmp_path)})
    assert done.returncode == 1 and "missing  make" in done.stdout and "absent   gdb" in done.stdout
