# SPDX-License-Identifier: Apache-2.0
"""
The calls of the Python interface of 2012. They act on one server in the process; each returns whether it succeeded.
New programs use monkey.Server.
"""

from __future__ import annotations

import os
import sys
from http import HTTPStatus
from typing import Any, Callable, Dict, List, Optional

from ._monkey import PASS, Error
from .serving import Serving, Setting

KEYS = {  # of configure(): the key of [SERVER] and the unit of a number
    "workers": ("Workers", ""), "timeout": ("Timeout", ""), "userdir": ("UserDir", ""), "indexfile": ("Indexfile", ""),
    "hideversion": ("HideVersion", ""), "resume": ("Resume", ""), "keepalive": ("KeepAlive", ""),
    "keepalivetimeout": ("KeepAliveTimeout", ""), "maxkeepaliverequest": ("MaxKeepAliveRequest", ""),
    "maxrequestsize": ("MaxRequestSize", "K"), "symlink": ("SymLink", ""), "defaultmimetype": ("DefaultMimeType", ""),
}
DEFAULTS = {"workers": 1, "timeout": 15, "hideversion": True, "resume": True, "keepalive": True, "keepalivetimeout": 15,
            "maxkeepaliverequest": 50, "maxrequestsize": 32, "symlink": False, "defaultmimetype": "text/plain"}
CALLBACKS = ("data", "ip", "url")


class _Context:
    """What init() began."""

    def __init__(self, address: Optional[str], port: int, root: Optional[str]) -> None:
        self.listen = f"{address}:{port or 2001}" if address else str(port or 2001)
        self.root = root
        self.keys: Dict[str, Any] = dict(DEFAULTS)
        self.callbacks: Dict[str, Callable[..., Any]] = {}
        self.serving: Optional[Serving] = None

    def settings(self) -> List[Setting]:
        result: List[Setting] = [("SERVER", "Listen", self.listen)]
        for name, value in self.keys.items():
            key, unit = KEYS[name]
            text = ("on" if value else "off") if isinstance(value, bool) else f"{value}{unit}"
            result.append(("SERVER", key, text))
        return result + ([("HOST", "DocumentRoot", self.root)] if self.root else [])

    def __call__(self, environ: Dict[str, Any], start_response: Callable[..., Any]) -> Any:
        path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
        for name, argument in (("ip", environ["REMOTE_ADDR"]), ("url", path)):
            asked = self.callbacks.get(name)
            if asked and not asked(argument):
                start_response("403 Forbidden", [("Content-Type", "text/plain")])
                return [b"Forbidden\n"]
        data = self.callbacks.get("data")
        result = data(*_arguments(environ, path)) if data else None
        return _answer(result, start_response) if result and result.get("return", 0) else PASS


def _arguments(environ: Dict[str, Any], path: str) -> tuple:
    """(vhost, url, get, get_len, post, post_len, header) of the callback `data`."""
    get = environ["QUERY_STRING"] or None
    post = environ["wsgi.input"].read() or None
    return environ["SERVER_NAME"], path, get, len(get or ""), post, len(post or b""), ""


def _answer(result: Dict[str, Any], start_response: Callable[..., Any]) -> List[bytes]:
    content = result.get("content", b"")
    content = content.encode() if isinstance(content, str) else bytes(content)
    content = content[:result.get("content_len", result.get("clen", len(content)))]
    status = int(result.get("status", 200))
    headers = [(name.strip(), value.strip()) for name, colon, value in
               (line.partition(":") for line in result.get("header", "").splitlines()) if colon]
    if not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", "text/html; charset=utf-8"))
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unknown"
    start_response(f"{status} {phrase}", headers)
    return [content]


_context: Optional[_Context] = None


def _refuse(why: str) -> bool:
    print(f"monkey: {why}", file=sys.stderr, flush=True)
    return False


def init(address: Optional[str] = None, port: int = 0, plugins: int = 0, documentroot: Optional[str] = None) -> bool:
    """
    Prepare the server. None listens on every address, port 0 is 2001, without documentroot there are no files. `plugins`
    is not used: Monkey needs none to serve. Fails while a server runs.
    """
    del plugins
    global _context
    if _context and _context.serving:
        return _refuse("init: the server runs")
    _context = _Context(address, port, documentroot)
    return True


def configure(**keys: Any) -> bool:
    """Set workers, timeout, userdir, indexfile, hideversion, resume, keepalive, keepalivetimeout, maxkeepaliverequest,
    maxrequestsize (KB), symlink or defaultmimetype. Fails for other names, before init() and while the server runs."""
    if not _context or _context.serving:
        return _refuse("configure: call it after init() and before start()")
    unknown = sorted(set(keys) - set(KEYS))
    if unknown:
        return _refuse(f"configure: unknown key {unknown[0]}")
    _context.keys.update(keys)
    return True


def set_callback(name: str, function: Callable[..., Any]) -> bool:
    """
    Set a function: `ip(address)` and `url(path)` return whether the request is allowed; `data(vhost, url, get, get_len,
    post, post_len, header)` returns {"return": 1, "content": ..., "status": 200, "header": "Name: value\\r\\n"}, or
    {"return": 0} for a file. It is called on several threads at once.
    """
    if not _context or _context.serving:
        return _refuse("set_callback: call it after init() and before start()")
    if name not in CALLBACKS or not callable(function):
        return _refuse(f"set_callback: {name!r} is none of {', '.join(CALLBACKS)}, or its function is none")
    _context.callbacks[name] = function
    return True


def start() -> bool:
    """Listen and serve beside the rest of the program."""
    if not _context or _context.serving:
        return _refuse("start: call it once after init()")
    try:
        serving = Serving(_context)
        serving.start(_context.settings())
    except (Error, ValueError) as error:
        return _refuse(f"start: {error}")
    _context.serving = serving
    return True


def stop() -> bool:
    """Stop and forget the server."""
    global _context
    context, _context = _context, None
    if not context:
        return _refuse("stop: call it after init()")
    if context.serving:
        context.serving.stop(grace=5)
    return True


def vhost_list() -> List[Dict[str, Any]]:
    """The virtual hosts: one, with name, document_root and server_names."""
    return [{"name": "default", "document_root": _context.root, "server_names": ""}] if _context else []


def scheduler_worker_info() -> List[Dict[str, int]]:
    """active_connections and pid of each worker; all are threads of this process."""
    if not _context or not _context.serving:
        return []
    return [{"active_connections": one.get("connections", 0), "pid": os.getpid()} for one in _context.serving.stats()]
