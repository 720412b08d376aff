# SPDX-License-Identifier: Apache-2.0
"""
The calls of the Python interface of 2012. They act on one server in the process; each returns whether it succeeded.
New programs use monkey.Server.
"""

from __future__ import annotations

import os
import sys
from http import HTTPStatus
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Union

from ._monkey import PASS, Error
from .checks import expect
from .serving import Serving, Setting

KEYS = {  # of configure(): the key of [SERVER] and the unit of a number
    "workers": ("Workers", ""), "timeout": ("Timeout", ""), "userdir": ("UserDir", ""), "indexfile": ("Indexfile", ""),
    "hideversion": ("HideVersion", ""), "resume": ("Resume", ""), "keepalive": ("KeepAlive", ""),
    "keepalivetimeout": ("KeepAliveTimeout", ""), "maxkeepaliverequest": ("MaxKeepAliveRequest", ""),
    "maxrequestsize": ("MaxRequestSize", "K"), "symlink": ("SymLink", ""), "defaultmimetype": ("DefaultMimeType", ""),
}
DEFAULTS = {"workers": 1, "timeout": 15, "hideversion": True, "resume": True, "keepalive": True, "keepalivetimeout": 15,
            "maxkeepaliverequest": 50, "maxrequestsize": 32, "symlink": False, "defaultmimetype": "text/plain"}
SPELLINGS = {  # in 2012, beside those of the C library
    "keepalive_timeout": "keepalivetimeout", "max_keepalive_request": "maxkeepaliverequest",
    "max_request_size": "maxrequestsize", "default_mimetype": "defaultmimetype",
}
CALLBACKS = ("close", "data", "ip", "url")


class Mimetype(NamedTuple):
    """A media type of files: the extension without its dot, and the type."""

    name: str
    type: str


class Worker(NamedTuple):
    """What a worker has counted."""

    accepted_connections: int
    closed_connections: int
    pid: int

    def print_info(self) -> None:
        """Write it to standard output."""
        print(f"pid {self.pid}: {self.accepted_connections} connections accepted, {self.closed_connections} closed")


COMMON_TYPES = (  # as libmonkey-2012 has them
    ("avif", "image/avif"), ("bin", "application/octet-stream"), ("css", "text/css"), ("csv", "text/csv"), ("gif", "image/gif"),
    ("gz", "application/gzip"), ("htm", "text/html"), ("html", "text/html"), ("ico", "image/x-icon"), ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"), ("js", "text/javascript"), ("json", "application/json"), ("mjs", "text/javascript"), ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"), ("ogg", "audio/ogg"), ("pdf", "application/pdf"), ("png", "image/png"), ("svg", "image/svg+xml"),
    ("tar", "application/x-tar"), ("txt", "text/plain"), ("wasm", "application/wasm"), ("wav", "audio/wav"), ("webm", "video/webm"),
    ("webp", "image/webp"), ("woff2", "font/woff2"), ("xml", "application/xml"), ("zip", "application/zip"))


class _Content:
    """The content of an answer. The server calls close() once, when it has all of it or the client has gone."""

    def __init__(self, content: bytes, on_close: Callable[[], Any]) -> None:
        self._content, self.close = content, on_close

    def __iter__(self) -> Iterator[bytes]:
        yield self._content


class _Context:
    """What init() began."""

    def __init__(self, address: Optional[str], port: int, root: Optional[str]) -> None:
        self.listen = f"{address}:{port or 2001}" if address else str(port or 2001)
        self.root = root
        self.keys: Dict[str, Any] = dict(DEFAULTS)
        self.types = [Mimetype(*both) for both in COMMON_TYPES]
        self.callbacks: Dict[str, Callable[..., Any]] = {}
        self.serving: Optional[Serving] = None

    def settings(self) -> List[Setting]:
        result: List[Setting] = [("SERVER", "Listen", self.listen)]
        for name, value in self.keys.items():
            key, unit = KEYS[name]
            text = ("on" if value else "off") if isinstance(value, bool) else f"{value}{unit}"
            result.append(("SERVER", key, text))
        result += [("MIMETYPES", one.name, one.type) for one in self.types]
        return result + ([("HOST", "DocumentRoot", self.root)] if self.root else [])

    def __call__(self, environ: Dict[str, Any], start_response: Callable[..., Any]) -> Any:
        path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
        for name, argument in (("ip", environ["REMOTE_ADDR"]), ("url", path)):
            asked = self.callbacks.get(name)
            if asked and not asked(argument):
                start_response("403 Forbidden", [("Content-Type", "text/plain")])
                return [b"Forbidden\n"]
        on_close = self.callbacks.get("close", _nothing)
        content = None
        try:
            data = self.callbacks.get("data")
            result = data(*_arguments(environ, path)) if data else None
            if result and result.get("return", 0):
                content = _answer(result, start_response)
        finally:
            if content is None:  # a file of the server, or an exception
                on_close()
        return PASS if content is None else _Content(content, on_close)


def _nothing() -> None:
    """In place of a callback `close`."""


def _arguments(environ: Dict[str, Any], path: str) -> tuple:
    """(vhost, url, get, get_len, post, post_len, header) of the callback `data`."""
    get = environ["QUERY_STRING"] or None
    post = environ["wsgi.input"].read() or None
    return environ["SERVER_NAME"], path, get, len(get or ""), post, len(post or b""), ""


def _answer(result: Dict[str, Any], start_response: Callable[..., Any]) -> bytes:
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
    if not any(name.lower() == "content-length" for name, _ in headers):
        headers.append(("Content-Length", str(len(content))))
    start_response(f"{status} {phrase}", headers)
    return content


_context: Optional[_Context] = None


def _refuse(why: str) -> bool:
    print(f"monkey: {why}", file=sys.stderr, flush=True)
    return False


def init(address: Optional[str] = None, port: int = 0, plugins: int = 0,
         documentroot: Union[str, os.PathLike, None] = None) -> bool:
    """
    Prepare the server. None listens on every address, port 0 is 2001, without documentroot there are no files. `plugins`
    is not used: Monkey needs none to serve. Fails while a server runs; raises TypeError for arguments of other types.
    """
    global _context
    for name, value, kinds in (("address", address, (str, type(None))), ("port", port, (int,)), ("plugins", plugins, (int,)),
                               ("documentroot", documentroot, (str, os.PathLike, type(None)))):
        expect(f"init: {name}", value, *kinds)
    if _context and _context.serving:
        return _refuse("init: the server runs")
    _context = _Context(address, port, os.fsdecode(documentroot) if documentroot is not None else None)
    return True


def configure(**keys: Any) -> bool:
    """Set workers, timeout, userdir, indexfile, hideversion, resume, keepalive, keepalivetimeout, maxkeepaliverequest,
    maxrequestsize (KB), symlink or defaultmimetype; keepalive_timeout, max_keepalive_request, max_request_size and
    default_mimetype are the same. Fails for other names, before init() and while the server runs; raises
    TypeError for a value that is neither text, number nor bool."""
    for name, value in keys.items():
        expect(f"configure: {name}", value, str, int, bool)
    if not _context or _context.serving:
        return _refuse("configure: call it after init() and before start()")
    named = {SPELLINGS.get(name, name): value for name, value in keys.items()}
    unknown = sorted(set(named) - set(KEYS))
    if unknown:
        return _refuse(f"configure: unknown key {unknown[0]}")
    _context.keys.update(named)
    return True


def getconfig() -> Dict[str, Any]:
    """The values of configure() with their defaults, "" for none, under the names of 2012; {} before init()."""
    names = {key: name for name, key in SPELLINGS.items()}
    return {names.get(key, key): _context.keys.get(key, "") for key in KEYS} if _context else {}


def set_callback(name: str, function: Callable[..., Any]) -> bool:
    """
    Set a function: `ip(address)` and `url(path)` return whether the request is allowed; `data(vhost, url, get, get_len,
    post, post_len, header)` returns {"return": 1, "content": ..., "status": 200, "header": "Name: value\\r\\n"}, or
    {"return": 0} for a file; `close()` is called once for each request that `ip` and `url` allowed, when its answer is with
    the server or its client has gone. They are called on several threads at once. Raises TypeError for what is no function.
    """
    expect("set_callback: name", name, str)
    if not callable(function):
        raise TypeError(f"set_callback: {name} must be callable, not {type(function).__name__}")
    if not _context or _context.serving:
        return _refuse("set_callback: call it after init() and before start()")
    if name not in CALLBACKS:
        return _refuse(f"set_callback: {name!r} is none of {', '.join(CALLBACKS)}")
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


def mimetype_list() -> List[Mimetype]:
    """The media types of files: those that every server has, then those of mimetype_add()."""
    return list(_context.types) if _context else []


def mimetype_add(name: str, type: str) -> bool:  # pylint: disable=redefined-builtin
    """Add the media type of an extension without its dot. Fails for one that is known, before init() and while the server runs."""
    expect("mimetype_add: name", name, str)
    expect("mimetype_add: type", type, str)
    if not _context or _context.serving:
        return _refuse("mimetype_add: call it after init() and before start()")
    if not name or not type or any(one.name.lower() == name.lower() for one in _context.types):
        return _refuse(f"mimetype_add: {name!r} is empty or known, or its type is empty")
    _context.types.append(Mimetype(name, type))
    return True


def scheduler_worker_info() -> List[Dict[str, int]]:
    """active_connections and pid of each worker; all are threads of this process."""
    if not _context or not _context.serving:
        return []
    return [{"active_connections": one.get("connections", 0), "pid": os.getpid()} for one in _context.serving.stats()]


def scheduler_workers_info() -> List[Worker]:
    """What each worker has counted; all are threads of this process."""
    if not _context or not _context.serving:
        return []
    return [Worker(one.get("accepted", 0), max(0, one.get("accepted", 0) - one.get("connections", 0)), os.getpid())
            for one in _context.serving.stats()]
