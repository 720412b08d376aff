# SPDX-License-Identifier: Apache-2.0
"""A log on standard output."""

from __future__ import annotations

import os
import threading


class StandardOutput:
    """
    What is written to the file `path` comes out on standard output. Opened by its own name, a regular file would be written
    from another offset than the program's own lines, and a socket, as of a service manager, not at all.
    """

    def __init__(self) -> None:
        self._from, self._to = os.pipe()
        self.path = f"/proc/self/fd/{self._to}"
        self._thread = threading.Thread(target=self._copy, name="access log", daemon=True)
        self._thread.start()

    def _copy(self) -> None:
        while block := os.read(self._from, 1 << 16):
            try:
                while block:
                    block = block[os.write(1, block):]
            except OSError:
                pass  # nobody reads any more; the server shall not wait for that

    def close(self) -> None:
        """When nothing will be written any more: wait until all is out, though not forever for one who does not read."""
        os.close(self._to)
        self._thread.join(5)
