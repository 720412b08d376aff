# SPDX-License-Identifier: Apache-2.0
"""examples/embed/2012, built as an old Makefile does it: from an installation, with pkg-config libmonkey."""

import contextlib
import re
import subprocess

import pytest

from harness import installed
from harness.client import Connection

LIMIT = 60


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    return installed.Installation(tmp_path_factory.mktemp("image"))


@contextlib.contextmanager
def running(installation, name, folder):
    """The address of an example that serves until its input ends."""
    program = installation.build(f"embed/2012/{name}.c", "libmonkey")
    address = str(folder / "s")
    process = subprocess.Popen([program, f"unix:{address}"], env=installation.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"running\n"
        yield address
        process.communicate(timeout=LIMIT)
        assert process.returncode == 0
    finally:
        process.kill()
        process.wait()


def ask(address, target, method="GET", **kwargs):
    with Connection(address) as connection:
        return connection.request(target, method, **kwargs)


def test_hello(installation, tmp_path):
    with running(installation, "hello", tmp_path) as address:
        answer = ask(address, "/anything")
        assert (answer.status, answer.body, answer.header("Content-Type")) == (200, b"Hello\n", "text/plain")


def test_list(installation, tmp_path):
    program = installation.build("embed/2012/list.c", "libmonkey")
    done = subprocess.run([program, f"unix:{tmp_path}/s"], env=installation.env, capture_output=True, text=True, timeout=LIMIT,
                          check=True)
    assert f"host default at /dev/null: unix:{tmp_path}/s\nhost files at /tmp: files.example.org\n" in done.stdout
    assert len(re.findall(r"^worker \d+: \d+ connections$", done.stdout, re.M)) == 2
    assert "type html: text/html\n" in done.stdout
    assert "type quiz: text/x-quiz\n" in done.stdout


def points(answer):
    return int(re.search(r"Points: (\d+)", answer.text)[1])


def test_quiz(installation, tmp_path):
    """A game from its first question to its end, and another player beside it."""
    with running(installation, "quiz", tmp_path) as address:
        first = ask(address, "/")
        cookie = first.header("Set-Cookie").partition(";")[0]
        other = ask(address, "/").header("Set-Cookie").partition(";")[0]
        assert cookie != other

        def answer(question, choice, player=cookie):
            form = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": f"a=b; {player}"}
            return ask(address, "/", "POST", headers=form, body=f"question={question}&answer={choice}".encode())

        assert "404" in first.text and points(first) == 0
        assert "Right!" in answer(0, 1).text
        assert "That question was answered." in answer(0, 1).text
        wrong = answer(1, 0)
        assert "Wrong." in wrong.text and points(wrong) == 1
        assert points(answer(0, 0, other)) == 0
        end = answer(2, 0)
        assert points(end) == 2 and "The end." in end.text
        assert "That question was answered." in answer(3, 0).text
        assert "Choose an answer." in answer("x", 0, other).text
        assert points(ask(address, "/new", headers={"Cookie": cookie})) == 0
        assert ask(address, "/other").status == 404


def test_an_old_include_of_the_folder_compiles(installation):
    for text in ("#include <libmonkey.h>\n#include <monkey/libmonkey.h>\n", "#include <monkey/mk_lib.h>\n"):
        flags = subprocess.run(["pkg-config", "--cflags", "libmonkey"], env=installation.env, check=True, capture_output=True,
                               text=True).stdout.split()
        subprocess.run(["gcc", "-xc", "-Wall", "-Werror", "-fsyntax-only", *flags, "-"], input=text, text=True, check=True,
                       timeout=LIMIT)
