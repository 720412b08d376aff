# SPDX-License-Identifier: Apache-2.0
"""Arms helpers/failmalloc.so.c, which lets the n-th allocation of a process fail."""

import itertools
import mmap
import struct

from harness import tools
from harness.client import eventually


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

    def until_none_fails(self, server, ask, works, within=50.0):
        """ask(n) again and again, while allocation 1, 2, ... n fails; after each works() becomes true. How many there were."""
        for number in itertools.count(1):
            self.arm(number)
            ask(number)
            assert server.is_running(), f"allocation {number}\n{server.log()}"
            self.disarm()
            failed = self.failed
            assert eventually(works, within=within), f"after allocation {number}"
            if not failed:
                return number

    def until_no_request_fails(self, server, data, check):
        """As until_none_fails: these bytes are sent, an answer, a cut one or none comes, and the next request passes check(), which asserts."""
        def ask(_):
            with server.connect() as client:
                try:
                    client.send(data)
                    client.finish_sending()
                except OSError:
                    pass  # it was closed at once
                answer = client.rest_until_cut()
            assert not answer or answer.startswith(b"HTTP/1.1 "), answer[:100]

        def works():
            check()
            return True

        return self.until_none_fails(server, ask, works)
