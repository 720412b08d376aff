# SPDX-License-Identifier: Apache-2.0
"""What is behind a proxy while it is measured: floors (floor.c), which cost as little as a backend can."""

import contextlib

import servers


class Backends:
    """So many of them on these cores, the same for every proxy of a case; of another kind, if that is said."""

    def __init__(self, count, root, path, size, cores, kind="floor"):
        self._stack = contextlib.ExitStack()
        self._running = []
        with contextlib.ExitStack() as stack:
            for _ in range(count):
                setup = servers.Setup(root=root, path=path, size=size)
                self._running.append(stack.enter_context(servers.Running(servers.SERVERS[kind], setup, cores=cores)))
            self._stack = stack.pop_all()

    @property
    def ports(self):
        return tuple(running.setup.port for running in self._running)

    def pids(self):
        return [pid for running in self._running for pid in running.pids()]

    def stop(self):
        self._stack.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
