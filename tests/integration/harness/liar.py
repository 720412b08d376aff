# SPDX-License-Identifier: Apache-2.0
"""A server of any protocol that answers as a test wants it."""

import socket
import threading

PATIENCE = 60.0


class Liar:
    """Answers the first bytes on each connection with others, and then says nothing or closes."""

    def __init__(self, answer, closes=False):
        self._answer, self._closes = answer, closes
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sockets, self._threads = [], [threading.Thread(target=self._accept)]
        self.port = self._listener.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.connections = 0
        self._threads[0].start()

    def _accept(self):
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._sockets.append(sock)
            self._threads.append(threading.Thread(target=self._serve, args=(sock,)))
            self._threads[-1].start()

    def _serve(self, sock):
        try:
            if sock.recv(65536):
                sock.sendall(self._answer)
            while not self._closes and sock.recv(65536):
                pass
        except OSError:
            pass
        sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join(PATIENCE)
        for sock in self._sockets:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self._threads[1:]:
            thread.join(PATIENCE)
        self._listener.close()
