# SPDX-License-Identifier: Apache-2.0
"""examples/embed/hello.cpp: what a handler throws does not leave it."""

import contextlib
import http.client
import shutil

import pytest

from harness import installed
from test_example_embed import running


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    return installed.Installation(tmp_path_factory.mktemp("image"))


def cpp(installation):
    """The compiler of the build, for C++."""
    name = "clang++" if "CC=clang" in installation.chosen else "g++"
    if not shutil.which(name) or installation.is_foreign():
        pytest.skip(f"there is no {name} for this build")
    installation.chosen = installation.chosen.replace("CC=clang", "CC=clang++").replace("CC=gcc", "CC=g++")
    return installation


def test_exceptions_become_answers(installation, tmp_path):
    program = cpp(installation).build("embed/hello.cpp", "monkey-web", "hello-cpp")
    with running(installation.env, program, tmp_path) as ask:
        assert ask("GET", "/")[::2] == (200, b"Hello from C++\n")
        assert ask("GET", "/fail")[0] == 500
        with contextlib.suppress(ConnectionError):
            with pytest.raises(http.client.IncompleteRead):
                ask("GET", "/late")
        assert ask("GET", "/")[0] == 200
