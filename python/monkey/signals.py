# SPDX-License-Identifier: Apache-2.0
"""A program that is a server: it serves until a signal ends it."""

from __future__ import annotations

import select
import signal
import socket
from typing import Callable, List

from .serving import Serving


class Signals:
    """TERM, INT, HUP and USR1 as bytes of a socket, which a loop can wait for. In the main thread only."""

    NUMBERS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1)

    def __init__(self) -> None:
        self._in, self._out = socket.socketpair()
        for end in (self._in, self._out):
            end.setblocking(False)
        self._before = {number: signal.signal(number, lambda *_: None) for number in self.NUMBERS}
        self._wakeup = signal.set_wakeup_fd(self._out.fileno(), warn_on_full_buffer=False)

    def fileno(self) -> int:
        return self._in.fileno()

    def pending(self) -> List[int]:
        """The signals that came since the last call."""
        try:
            return list(self._in.recv(4096))
        except BlockingIOError:
            return []

    def close(self) -> None:
        """Restore what was there before."""
        signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._in.close()
        self._out.close()


def serve_until_signal(serving: Serving, signals: Signals, reload: Callable[[], None], grace: float) -> None:
    """
    Until the server has stopped: TERM and INT stop it gracefully, a second one at once; HUP calls reload, USR1 opens log
    files again.
    """
    poll = select.poll()
    poll.register(signals.fileno(), select.POLLIN)
    poll.register(serving.fileno(), select.POLLIN)
    stops = False
    while serving.fileno() not in [fd for fd, _ in poll.poll()]:
        for number in signals.pending():
            if number == signal.SIGHUP:
                reload()
            elif number == signal.SIGUSR1:
                serving.reopen_logs()
            elif number in (signal.SIGTERM, signal.SIGINT):
                serving.begin_stop(0 if stops else grace, f"signal {signal.Signals(number).name.removeprefix('SIG')}")
                stops = True
