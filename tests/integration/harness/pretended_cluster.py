# SPDX-License-Identifier: Apache-2.0
"""A cluster of Redis that is none: its first server knows where everything is, and has nothing itself."""

import selectors
import socket
import threading

PATIENCE = 60.0


class Cluster:
    """"GET N" is moved to server N, which answers it with its number, or not at all if it is one of the silent."""

    def __init__(self, size, silent=()):
        self._selector, self._silent = selectors.DefaultSelector(), set(silent)
        self._ends = socket.socketpair()
        self._selector.register(self._ends[1], selectors.EVENT_READ, None)
        self._listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(size + 1)]
        for number, listener in enumerate(self._listeners):
            self._selector.register(listener, selectors.EVENT_READ, (number, True))
        self.ports = [listener.getsockname()[1] for listener in self._listeners]
        self.address = f"127.0.0.1:{self.ports[0]}"
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    return
                number, listens = key.data
                if listens:
                    self._selector.register(key.fileobj.accept()[0], selectors.EVENT_READ, (number, False))
                else:
                    self._serve(key.fileobj, number)

    def _serve(self, sock, number):
        """Commands of few bytes come whole."""
        try:
            words = sock.recv(65536).split(b"\r\n")
            answers = [self._answer(number, words[at + 4]) for at, word in enumerate(words) if word == b"*2"]
            sock.sendall(b"".join(answers) + b"+PONG\r\n" * words.count(b"*1"))
        except OSError:
            words = []
        if not words or not words[0]:
            self._selector.unregister(sock)
            sock.close()

    def _answer(self, number, key):
        if number == 0:
            return b"-MOVED 0 127.0.0.1:%d\r\n" % self.ports[int(key)]
        return b"" if number in self._silent else b"$%d\r\n%d\r\n" % (len(str(number)), number)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._ends[0].close()
        self._thread.join(PATIENCE)
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()
        self._selector.close()
