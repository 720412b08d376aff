# SPDX-License-Identifier: Apache-2.0
"""Clients that ask while something else happens to the server."""

import threading

from harness.client import Connection


class Clients:
    """
    A thread for each of `asks`, which takes a connection and returns a response, until they are told to stop. What goes wrong is kept.

        with Clients(address, [ask] * 8, a_connection=20) as clients:
            server.reload()
        assert clients.faults == []
    """

    def __init__(self, address, asks, a_connection=1):
        self.address, self.a_connection = address, a_connection  # requests on each
        self.faults, self.answers = [], 0
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(ask,)) for ask in asks]

    def _work(self, ask):
        while not self._stop.is_set():
            try:
                with Connection(self.address) as connection:
                    for _ in range(self.a_connection):
                        response = ask(connection)
                        self.answers += 1
                        if not response.keeps_connection or self._stop.is_set():
                            break
            except (OSError, AssertionError) as fault:
                self.faults.append(repr(fault))

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def stop(self):
        """Before what they ask ends."""
        self._stop.set()
        for thread in self._threads:
            thread.join(60)

    def __exit__(self, *_):
        self.stop()
