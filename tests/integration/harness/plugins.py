# SPDX-License-Identifier: Apache-2.0
"""The plugins of the tests, built beside the executable."""

import pathlib

from harness import process
from harness.config import section


def load(*names):
    """A plugins.load that has them: extra=load("xor")."""
    folder = pathlib.Path(process.binary()).parent / "tests" / "plugins"
    return {"plugins.load": section("PLUGINS", "\n".join(f"Load {folder}/monkey-{name}.so" for name in names))}
