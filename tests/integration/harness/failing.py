# SPDX-License-Identifier: Apache-2.0
"""Arms helpers/failmalloc.so.c, which lets the n-th allocation of a process fail."""

import mmap
import struct

from harness import tools


class FailingAllocations:
    """left, seen and failed, as described in the helper."""

    def __init__(self, folder):
        self.path = folder / "allocations"
        self.path.write_bytes(bytes(24))
        with open(self.path, "r+b") as file:
            self._shared = mmap.mmap(file.fileno(), 24)

    @property
    def environment(self):
        return {"LD_PRELOAD": tools.helper("failmalloc.so.c"), "FAILMALLOC": str(self.path)}

    def arm(self, number):
        """Let the number-th allocation from now on fail, and count anew."""
        self._shared[0:24] = struct.pack("=qqq", number, 0, 0)

    def disarm(self):
        """Let no further one fail; the counts stay."""
        self._shared[0:8] = struct.pack("=q", 0)

    @property
    def seen(self):
        return struct.unpack_from("=q", self._shared, 8)[0]

    @property
    def failed(self):
        return struct.unpack_from("=q", self._shared, 16)[0]
