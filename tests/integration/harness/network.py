# SPDX-License-Identifier: Apache-2.0
"""Tests that run at the same time each find the ports of this machine to themselves."""

import ctypes
import subprocess

CLONE_NEWNET = 0x40000000


def have_our_own():
    """For this thread and what it starts; only root may, others share one network."""
    if ctypes.CDLL(None).unshare(CLONE_NEWNET) == 0:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
