# SPDX-License-Identifier: Apache-2.0
"""A process that stands still: it answers nothing that is sent from now on."""

import pathlib
import signal

from harness.client import eventually

PATIENCE = 60.0


def stop(process):
    """SIGSTOP, until all of its threads stand."""
    tasks = pathlib.Path(f"/proc/{process.pid}/task")
    process.send_signal(signal.SIGSTOP)
    assert eventually(lambda: all(task.read_text().rpartition(")")[2].split()[0] == "T" for task in tasks.glob("*/stat")),
                      within=PATIENCE), f"{process.args[0]} does not stop"
