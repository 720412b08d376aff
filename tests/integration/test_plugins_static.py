# SPDX-License-Identifier: Apache-2.0
"""A server with plugins built in: they are loaded by name like any other, and where it is linked statically nothing else is."""

import re

import pytest

from harness import process
from harness.config import Config


@pytest.fixture(scope="module")
def built_in():
    """The names of the plugins inside, but for those that always are."""
    names = re.search(r"(?m)^plugins +liana *(.*)$", process.run("--build").stdout)[1].split()
    if not names:
        pytest.skip("this build has no plugins inside")
    return names


def check(folder, load):
    written = Config(folder)
    written.write(extra={"plugins.load": f"[PLUGINS]\n    Load {load}\n"})
    result = process.run("--configdir", written.folder, "--test")
    return result.returncode, result.stdout + result.stderr


@pytest.mark.parametrize("form", ["{}", "monkey-{}.so", "/nowhere/monkey-{}.so"])
def test_what_is_inside_is_found_by_its_name(built_in, tmp_path, form):
    for name in built_in:
        code, output = check(tmp_path, form.format(name))
        assert code == 0, output


def test_nothing_else_is_loaded(built_in, tmp_path):
    file = tmp_path / "monkey-else.so"
    file.write_bytes(b"")
    code, output = check(tmp_path, file)
    assert code == 1
    assert re.search(r"plugins\.load:2:10: error: Load: cannot load \".*monkey-else\.so\", because this server is linked statically", output), output
