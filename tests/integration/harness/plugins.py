# SPDX-License-Identifier: Apache-2.0
"""The plugins that the tests of the host load, each by its path in the build tree."""

import pathlib

import pytest

from harness import process


def path(name):
    """The shared object of a test plugin; a static server loads none, so the test is skipped there."""
    found = pathlib.Path(process.binary()).parent / "tests" / "plugins" / f"monkey-{name}.so"
    if not found.is_file():
        pytest.skip("this build loads no shared objects")
    return found


def load(*names):
    """plugins.load with these test plugins."""
    return "[PLUGINS]\n" + "".join(f"    Load {path(name)}\n" for name in names)
