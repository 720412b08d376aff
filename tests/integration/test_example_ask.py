# SPDX-License-Identifier: Apache-2.0
"""examples/ask, built as somebody else would: from an installation, with pkg-config."""

import os
import pathlib
import re
import shlex
import subprocess

import pytest

from harness import process

EXAMPLE = process.TREE / "examples" / "ask" / "ask.c"


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """A function that runs the program: document root and target."""
    folder = pathlib.Path(process.binary()).parent
    chosen = (folder / ".chosen").read_text()
    if "default_library=static" in chosen:
        pytest.skip("there is no shared library")
    image = tmp_path_factory.mktemp("image")
    subprocess.run(["meson", "install", "-C", folder, "--no-rebuild", "--destdir", image], check=True, capture_output=True)
    pc = next(image.rglob("monkey.pc"))
    env = dict(os.environ, PKG_CONFIG_PATH=str(pc.parent), PKG_CONFIG_SYSROOT_DIR=str(image))
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "monkey"], env=env, check=True, capture_output=True, text=True).stdout
    compiler = shlex.split(re.search(r"^CC=(.*)$", chosen, re.M)[1])
    sanitizer = re.search(r"-Db_sanitize=(\S+)", chosen)
    compiler += [f"-fsanitize={sanitizer[1]}"] if sanitizer else []  # its runtime comes first in a program
    program = image / "ask"
    subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", EXAMPLE, "-o", program, *shlex.split(flags)], env=env, check=True)
    env["LD_LIBRARY_PATH"] = str(next(image.rglob("libmonkey.so")).parent)

    def run(root, target):
        return subprocess.run([program, root, target], env=env, capture_output=True, text=True, timeout=60, check=False)

    return run


def test_a_file_is_answered(ask, tmp_path):
    (tmp_path / "a.txt").write_text("some text\n")
    done = ask(tmp_path, "/a.txt")
    assert (done.returncode, done.stdout) == (0, "some text\n"), done.stderr
    assert "Content-Length: 10" in done.stderr


def test_other_answers_come_too(ask, tmp_path):
    done = ask(tmp_path, "/none")
    assert done.returncode == 0
    assert "404\n" in done.stderr


def test_errors_of_the_configuration_are_printed(ask, tmp_path):
    done = ask(tmp_path / "none", "/a.txt")
    assert done.returncode == 2
    assert "DocumentRoot" in done.stderr


def test_a_malformed_question_is_refused(ask, tmp_path):
    assert ask(tmp_path, "/a b").returncode == 1
