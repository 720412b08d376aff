# SPDX-License-Identifier: Apache-2.0
"""A program that uses a known amount of the machine when it is asked, for tests of what measures."""

import contextlib
import os
import subprocess

from harness import tools

# What reads the amount out of its answer.
WORDS = ["--requests-regex", r"cpu_us: ([0-9]+)"]


def helper():
    # Static: pages of a shared library count as private or not by what other programs run just then.
    return tools.helper("work.c", "-static")


@contextlib.contextmanager
def working(tmp_path, mode):
    """A helper that works when a line is written to the path, and answers in the other: its pid, the command that asks it."""
    paths = tmp_path / "ask", tmp_path / "answer"
    for path in paths:
        os.mkfifo(path)
    # Both ends stay open here, so that the helper sees no end between two questions.
    ends = [os.open(path, os.O_RDWR) for path in paths]
    process = subprocess.Popen([helper(), mode], stdin=ends[0], stdout=ends[1])
    try:
        yield process, ["sh", "-c", f"echo >{paths[0]}; read line <{paths[1]}; echo $line"]
    finally:
        process.kill()
        process.wait()
        for end in ends:
            os.close(end)
