# SPDX-License-Identifier: Apache-2.0
"""A running server with its Python threads: what the command line and other interfaces are made of."""

from __future__ import annotations

import atexit
import os
import select
import sys
import tempfile
import threading
import time
import weakref
from typing import Any, Callable, Iterable, List, Optional, Sequence, Tuple, Union

from . import _monkey
from .checks import expect, expect_seconds

Setting = Tuple[str, str, str]
Application = Callable[[dict, Callable[..., Any]], Iterable[bytes]]

_running: "weakref.WeakSet[Serving]" = weakref.WeakSet()


class Serving:
    """
    One server of the library, whose requests an application answers on a bounded number of Python threads.

    Any number of them may run in one process. All methods may be called from any thread. fork() is not supported while
    one runs: the child's calls raise RuntimeError; use subprocess, or fork before start().

    :param application: a WSGI application (PEP 3333)
    :param threads: Python threads that run it, at most so many requests at once
    :param body_memory: bytes of a request's body in memory; the rest is in a file in `spool`
    :param answer_memory: bytes of an answer that wait for a slow client before its thread waits too
    :param waiting: requests that may wait for a thread; further ones get 503
    :param streamed: call the application before the body has arrived; it then waits in wsgi.input.read()
    :param script_name: path under which the application is, such as "/shop"; becomes SCRIPT_NAME
    """

    def __init__(self, application: Application, *, threads: int = 8, body_memory: int = 1 << 20,
                 answer_memory: int = 256 << 10, waiting: int = 1024, streamed: bool = False,
                 script_name: str = "", spool: Optional[str] = None) -> None:
        for name, value, kinds in (("threads", threads, (int,)), ("script_name", script_name, (str,)),
                                   ("spool", spool, (str, type(None)))):
            expect(name, value, *kinds)
        if threads < 1:
            raise ValueError("threads is at least 1")
        if script_name and (not script_name.startswith("/") or script_name.endswith("/")):
            raise ValueError("script_name begins with a slash and does not end with one")
        common = {
            "wsgi.version": (1, 0), "wsgi.errors": sys.stderr, "wsgi.multithread": threads > 1, "wsgi.multiprocess": False,
            "wsgi.run_once": False, "wsgi.input_terminated": True, "wsgi.file_wrapper": _monkey.FileWrapper,
            "SERVER_SOFTWARE": f"Monkey/{_monkey.version}",
        }
        self._core = _monkey.Server(application, common, script_name, spool or tempfile.gettempdir(), body_memory=body_memory,
                                    answer_memory=answer_memory, max_waiting=waiting, streamed=streamed)
        self._nthreads = threads
        self._threads: List[threading.Thread] = []
        self._lock = threading.RLock()
        self._files: Optional[str] = None
        self._closed = False

    # -- life

    def start(self, settings: Sequence[Setting], directory: Optional[str] = None) -> None:
        """
        Listen and serve. Requests are answered until stop().

        :param settings: (section, key, value), which override the files of the directory
        :raises monkey.ConfigError: the configuration has errors, which the text names
        :raises monkey.Error: the address is in use, or there is no memory
        """
        with self._lock:
            self._core.start(settings, directory, _monkey.plugin_dir)
            _running.add(self)
            for number in range(self._nthreads):
                thread = threading.Thread(target=self._core.run, name=f"monkey-{number}", daemon=True)
                self._threads.append(thread)
                thread.start()

    def reload(self, settings: Sequence[Setting], directory: Optional[str] = None) -> None:
        """Change the configuration without closing a connection. On an exception the old one stays in force."""
        with self._lock:
            self._core.reload(settings, directory, _monkey.plugin_dir)

    def reopen_logs(self) -> None:
        """Open log files again by name, after they were renamed."""
        with self._lock:
            self._core.reopen_logs()

    def begin_stop(self, grace: float = 30.0, why: str = "stop()") -> None:
        """Stop listening; requests in flight have `grace` seconds. Returns at once."""
        expect_seconds("grace", grace)
        with self._lock:
            self._core.stop(int(grace * 1000), why)

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Wait until the server has stopped. @return False after `timeout` seconds."""
        with self._lock:
            if self._closed:
                return True
            fd = self._core.fileno()
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return bool(poll.poll(None if timeout is None else int(timeout * 1000)))

    def stop(self, grace: float = 30.0, why: str = "stop()") -> None:
        """Stop gracefully, wait, and free everything. A second call does nothing."""
        expect_seconds("grace", grace)
        with self._lock:
            if self._closed:
                return
            if self._threads:
                self._core.stop(int(grace * 1000), why)
        if self._threads:
            self.wait(grace + 5)
        self.close()

    def close(self, patience: float = 5.0) -> bool:
        """
        Stop at once and free everything.

        :return: False: the application still runs on a thread after `patience` seconds, so its memory stays
        """
        with self._lock:
            if self._closed:
                return True
            if threading.current_thread() in self._threads:
                raise RuntimeError("a request cannot close the server that it waits for")
            if self._threads and not self.wait(0):
                self._core.stop(0, "close()")
                self.wait(patience)
            self._core.release()
            until = time.monotonic() + patience
            for thread in self._threads:
                thread.join(max(0.0, until - time.monotonic()))
            _running.discard(self)
            if any(thread.is_alive() for thread in self._threads):
                return False
            self._core.close()
            self._threads.clear()
            self._closed = True
            return True

    # -- facts

    @property
    def addresses(self) -> List[str]:
        """The listening addresses with their real ports, such as "127.0.0.1:2001"."""
        return self._core.addresses()

    def stats(self) -> List[dict]:
        """Counters of each worker: accepted, requests, bytes_in, bytes_out, connections."""
        return self._core.stats()

    def fileno(self) -> int:
        """A descriptor that becomes readable when the server has stopped."""
        return self._core.fileno()

    def log(self, text: str, level: int = 2) -> None:
        """Write a line to the error log; level 0 is error, 1 warn, 2 info, 3 debug."""
        self._core.log(level, text)


def listen_settings(listen: Union[str, int, Iterable[Union[str, int]]], workers: int = 0) -> List[Setting]:
    """Settings of [SERVER] for one address or several: 8080, "127.0.0.1:8080", "unix:/run/x"."""
    several = [listen] if isinstance(listen, (str, int)) else list(listen)
    for address in several:
        expect("listen", address, str, int)
    expect("workers", workers, int)
    return ([("SERVER", "Listen", str(address)) for address in several]
            + ([("SERVER", "Workers", str(workers))] if workers else []))


def _close_all() -> None:
    for serving in list(_running):
        serving.close(patience=1.0)


def _forget_all() -> None:
    _running.clear()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_forget_all)
