# SPDX-License-Identifier: Apache-2.0
"""Programs that embed the library, built as somebody else would: from an installation, with pkg-config."""

import os
import pathlib
import re
import shlex
import subprocess

import pytest

from harness import process


END_WITHIN = 60.0  # seconds


class Installation:
    """An installation in an empty folder."""

    def __init__(self, image):
        folder = pathlib.Path(process.binary()).parent
        self.chosen = (folder / ".chosen").read_text()
        if "default_library=static" in self.chosen:
            pytest.skip("there is no shared library")
        subprocess.run(["meson", "install", "-C", folder, "--no-rebuild", "--destdir", image], check=True, capture_output=True)
        self.image = image
        pc = next(image.rglob("monkey.pc"))
        self.env = dict(os.environ, PKG_CONFIG_PATH=str(pc.parent), PKG_CONFIG_SYSROOT_DIR=str(image),
                        LD_LIBRARY_PATH=str(next(image.rglob("libmonkey.so")).parent))

    def is_foreign(self):
        """Is the build for 32 bits, for which only libc is here?"""
        return "-m32" in self.chosen

    def build(self, source, package, name=None):
        """Compile an example of examples/, a file or all of a folder; the path of the program."""
        source = process.TREE / "examples" / source
        sources = sorted(source.glob("*.c")) if source.is_dir() else [source]
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", package], env=self.env, check=True, capture_output=True,
                               text=True).stdout
        compiler = shlex.split(re.search(r"^CC=(.*)$", self.chosen, re.M)[1])
        sanitizer = re.search(r"-Db_sanitize=(\S+)", self.chosen)
        compiler += [f"-fsanitize={sanitizer[1]}"] if sanitizer else []  # its runtime comes first in a program
        program = self.image / (name or source.stem)
        subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", *sources, "-o", program, *shlex.split(flags)], env=self.env,
                       check=True)
        return program


class Running:
    """A program that was built, started by a class of its own as self.child; it ends well when its input ends."""

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.child.stdin.close()
        try:
            assert self.child.wait(END_WITHIN) == 0 or kind
        finally:
            self.child.kill()
            self.child.wait()
            if self.child.stdout:
                self.child.stdout.close()
