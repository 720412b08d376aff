# SPDX-License-Identifier: Apache-2.0
"""examples/ask, built as somebody else would: from an installation, with pkg-config."""

import subprocess

import pytest

from harness import installed


@pytest.fixture(scope="module")
def ask(tmp_path_factory):
    """A function that runs the program: document root and target."""
    installation = installed.Installation(tmp_path_factory.mktemp("image"))
    program = installation.build("ask/ask.c", "monkey")

    def run(root, target):
        return subprocess.run([program, root, target], env=installation.env, capture_output=True, text=True, timeout=60, check=False)

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
