# SPDX-License-Identifier: Apache-2.0
"""monkey.Server: handlers as decorated functions."""

from __future__ import annotations

import os
import sys
from typing import Any, Callable, Iterable, List, Mapping, Optional, Sequence, TypeVar, Union

from ._monkey import Error
from .checks import expect
from .routes import Handler, Route, Routes
from .serving import Serving, Setting, listen_settings
from .signals import Signals, serve_until_signal

F = TypeVar("F", bound=Handler)


class Server:
    """
    A server whose handlers are functions of this program.

        server = monkey.Server(listen=8080, root="/srv/www")

        @server.get("/hello/<name>")
        def hello(request, name):
            return f"Hello, {name}"

        server.run()

    A handler gets a monkey.Request and the variables of its pattern: `<name>` is one segment, `<int:name>` a number,
    `<path:name>` the rest. It returns str (HTML), bytes, a dictionary or list (JSON), None (204), an iterable that is sent as
    it comes, (body, status, headers), or a monkey.Response; or it raises monkey.Abort. Handlers run on `threads` Python
    threads. Other paths are files below `root`, or 404.

    :param listen: port, "address:port" or "unix:/path", or several; port 0 is any free one, see `addresses`
    :param root: directory of files; None: no files
    :param workers: threads of the server's event loops
    :param settings: of Monkey's configuration: {"SERVER": {"KeepAliveTimeout": 5}}
    :param directory: configuration directory of Monkey
    :param options: as of monkey.Serving: body_memory, answer_memory, waiting, streamed, script_name, spool
    """

    def __init__(self, listen: Union[str, int, Iterable[Union[str, int]]] = 2001, *, root: Union[str, os.PathLike, None] = None,
                 threads: int = 8, workers: int = 1, settings: Optional[Mapping[str, Mapping[str, Any]]] = None,
                 directory: Union[str, os.PathLike, None] = None, **options: Any) -> None:
        for name, value in (("root", root), ("directory", directory)):
            expect(name, value, str, os.PathLike, type(None))
        self._settings: List[Setting] = listen_settings(listen, workers)
        if root is not None:
            self._settings.append(("HOST", "DocumentRoot", os.fsdecode(root)))
        expect("settings", settings, Mapping, type(None))
        for section, keys in (settings or {}).items():
            expect(f"settings of {section}", keys, Mapping)
            self._settings += [(section, key, _word(value)) for key, value in keys.items()]
        self._directory = None if directory is None else os.fsdecode(directory)
        self._routes = Routes()
        self._serving = Serving(self._routes, threads=threads, **options)

    # -- handlers

    def route(self, pattern: str, methods: Sequence[str] = ("GET",)) -> Callable[[F], F]:
        """Answer paths of a pattern with the decorated function; GET includes HEAD. Before or after start()."""
        route = Route(pattern, methods)

        def add(handler: F) -> F:
            if not callable(handler):
                raise TypeError(f"the handler of {pattern} must be callable, not {type(handler).__name__}")
            self._routes.add(route, handler)
            return handler
        return add

    def get(self, pattern: str) -> Callable[[F], F]:
        """@server.get("/path")"""
        return self.route(pattern, ("GET",))

    def post(self, pattern: str) -> Callable[[F], F]:
        """@server.post("/path")"""
        return self.route(pattern, ("POST",))

    def put(self, pattern: str) -> Callable[[F], F]:
        """@server.put("/path")"""
        return self.route(pattern, ("PUT",))

    def delete(self, pattern: str) -> Callable[[F], F]:
        """@server.delete("/path")"""
        return self.route(pattern, ("DELETE",))

    # -- life

    def start(self) -> "Server":
        """Listen and serve, beside the rest of the program. Raises monkey.Error or monkey.ConfigError."""
        self._serving.start(self._settings, self._directory)
        return self

    def stop(self, grace: float = 30.0) -> None:
        """Stop gracefully within `grace` seconds, and free everything. A second call does nothing."""
        self._serving.stop(grace)

    def reload(self) -> None:
        """Read the files of `directory` again, without closing a connection."""
        self._serving.reload(self._settings, self._directory)

    def run(self, grace: float = 30.0) -> None:
        """Serve until TERM or INT; HUP reloads, USR1 opens log files again. In the main thread."""
        signals = Signals()
        try:
            self.start()
            serve_until_signal(self._serving, signals, self._try_reload, grace)
        finally:
            signals.close()
            self._serving.close()

    def _try_reload(self) -> None:
        try:
            self.reload()
        except Error as error:
            print(error, file=sys.stderr, flush=True)

    def __enter__(self) -> "Server":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # -- facts

    @property
    def addresses(self) -> List[str]:
        """The listening addresses with their real ports, such as "127.0.0.1:2001"."""
        return self._serving.addresses

    def stats(self) -> List[dict]:
        """Counters of each worker: accepted, requests, bytes_in, bytes_out, connections."""
        return self._serving.stats()


def _word(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)
