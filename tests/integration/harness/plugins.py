# SPDX-License-Identifier: Apache-2.0
"""The plugins that the tests of the host load, each by its path in the build tree."""

import pathlib

import pytest

from harness import carriers, process

IN_MEMORY = ("sockets",)  # built into monkey-memory


def path(name):
    """The shared object of a test plugin; a static server loads none, so the test is skipped there."""
    if carriers.is_memory() and name in IN_MEMORY:
        return name
    found = pathlib.Path(process.binary()).parent / "tests" / "plugins" / f"monkey-{name}.so"
    if not found.is_file():
        pytest.skip("this build loads no shared objects")
    return found


def load(*names):
    """plugins.load with these test plugins."""
    return "[PLUGINS]\n" + "".join(f"    Load {path(name)}\n" for name in names)
