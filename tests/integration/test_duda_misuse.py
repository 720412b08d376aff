# SPDX-License-Identifier: Apache-2.0
"""What services do wrong harms neither the server nor other requests."""

import os
import shlex
import subprocess

import pytest

from harness import duda

NULLS = 25  # calls in `nulls`, each of which must have failed


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    duda.build(folder, "misuse")
    return start_shared(**duda.config(folder, "misuse", server="Workers 1"))


@pytest.mark.parametrize("path, status, body", [
    ("/twice", 200, b"once"),
    ("/row", 200, b"-1 -1 -1 0 0"),
    ("/many", 200, b"-1"),
    ("/status", 299, b"-1 -1"),
    ("/nulls", 200, str(NULLS).encode()),
    ("/length", 200, b"123456"),
])
def test_misuse(server, path, status, body):
    answer = server.get("/misuse" + path)
    assert (answer.status, answer.body) == (status, body)
    assert answer.header("X-Evil") is None and answer.header("Transfer-Encoding") is None


def test_a_text_of_a_megabyte(server):
    assert server.get("/misuse/huge").body == b" " * 999999 + b"7"


@pytest.mark.parametrize("path", ["/no-status", "/interim"])
def test_an_answer_without_a_status_is_an_error(server, path):
    assert server.get("/misuse" + path).status == 500
    server.wait_for_log(rf"service 'misuse': {path} answers without a status")


def test_end_twice_is_logged(server):
    server.get("/misuse/twice")
    server.wait_for_log(r"service 'misuse': /twice: end\(\) for the second time")


def test_a_length_below_what_is_queued_cuts_it_off(server):
    answer = server.raw(b"GET /misuse/length?a=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    assert answer.endswith(b"\r\n\r\n123")


def test_a_request_that_is_over_is_refused(server):
    assert server.get("/misuse/keep").status == 200
    assert server.get("/misuse/old").body == b"0 -1"


FORMATS = """
#include "webservice.h"
#include "packages/kv/kv.h"
DUDA_REGISTER("a", "b");
void wrong(duda_request_t *dr, duda_logger_t *log)
{
    response->printf(dr, "%s", 1);
    response->send(dr, 200, NULL, "%d", "x");
    msg->info("%s", 1);
    msg->warn("%s", 1);
    msg->err("%s", 1);
    msg->bug("%s", 1);
    logger->print(log, "%d", "x");
    kv->store_fmt(NULL, "k", 1, "%s", 1);
    kv->append_fmt(NULL, "k", 1, "%s", 1);
    mk_bug(1 % 2 == 0);
}
int duda_main() { return 0; }
"""


def test_the_compiler_compares_formats_with_values(tmp_path):
    source = tmp_path / "wrong.c"
    source.write_text(FORMATS)
    done = subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-std=gnu11", "-Wall", "-fsyntax-only", "-DDUDA_API_LEVEL=3",
                           f"-I{duda.HEADERS}", source], capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr.count("[-Wformat") == 9, done.stderr
