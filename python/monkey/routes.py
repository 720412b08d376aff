# SPDX-License-Identifier: Apache-2.0
"""Requests, answers and the table of paths behind monkey.Server."""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple
from urllib.parse import parse_qs

from ._monkey import PASS
from .checks import expect

Handler = Callable[..., Any]
Headers = List[Tuple[str, str]]

SEGMENTS: Dict[str, Tuple[str, Callable[[str], Any]]] = {
    "str": (r"[^/]+", str),
    "int": (r"[0-9]{1,18}", int),
    "path": (r".+", str),
}
FIELDS_MAX = 1000
VARIABLE = re.compile(r"<(?:(?P<kind>\w+):)?(?P<name>[A-Za-z_]\w*)>")


class Abort(Exception):
    """Raise it in a handler to answer with a status: raise monkey.Abort(404)."""

    def __init__(self, status: int, text: str = "") -> None:
        super().__init__(status, text)
        self.status, self.text = status, text


class Request:
    """A request, for handlers. Valid until the handler's answer has been sent."""

    def __init__(self, environ: Dict[str, Any]) -> None:
        self.environ = environ
        self.method: str = environ["REQUEST_METHOD"]
        self.path = _text(environ["PATH_INFO"])
        self.peer: str = environ["REMOTE_ADDR"]
        self.stream = environ["wsgi.input"]  # read(), readline() and iteration, as the body arrives
        self._body: Optional[bytes] = None

    def header(self, name: str, default: Optional[str] = None) -> Optional[str]:
        """The value of a field, in any case of its name."""
        key = name.upper().replace("-", "_")
        return self.environ.get(key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else "HTTP_" + key, default)

    @property
    def query(self) -> Dict[str, List[str]]:
        """Decoded values of the query, by name: {"a": ["1", "2"]}."""
        return parse_qs(self.environ["QUERY_STRING"], keep_blank_values=True)

    def body(self) -> bytes:
        """The complete body; waits for it."""
        if self._body is None:
            self._body = self.stream.read()
        return self._body

    def json(self) -> Any:
        """The body as JSON; one that is malformed is answered with 400."""
        try:
            return json.loads(self.body())
        except (ValueError, RecursionError) as error:
            raise Abort(400, f"malformed JSON: {error}") from None

    def form(self) -> Dict[str, List[str]]:
        """Decoded values of an urlencoded form, by name; more than 1,000 are answered with 413."""
        try:
            return parse_qs(self.body().decode("latin-1"), keep_blank_values=True, max_num_fields=FIELDS_MAX)
        except ValueError:
            raise Abort(413, f"a form may have {FIELDS_MAX} fields") from None

    @property
    def cookies(self) -> Dict[str, str]:
        """Values of the client's cookies, by name; none if the field is malformed."""
        try:
            return {name: morsel.value for name, morsel in SimpleCookie(self.environ.get("HTTP_COOKIE", "")).items()}
        except CookieError:
            return {}


class Html(str):
    """
    Markup, for a handler to return: it is sent as text/html, where a str is text/plain. What others wrote must be escaped in
    it: monkey.Html(f"<p>Hello, {html.escape(name)}</p>").
    """


class Response:
    """
    An answer, for handlers that need more than a body.

    :param body: str (plain text), Html, bytes, a dictionary or list (JSON), None, or an iterable of bytes or str, sent as it comes
    :param type: media type; by the kind of the body if it is not given
    """

    def __init__(self, body: Any = None, status: int = 200, headers: Optional[Mapping[str, str]] = None,
                 type: Optional[str] = None) -> None:
        self.status = status
        self.headers: Headers = list((headers or {}).items())
        kind, self.blocks = _blocks_of(body)
        if body is None and status == 200:
            self.status = 204
        if not any(name.lower() == "content-type" for name, _ in self.headers) and (type or kind):
            self.headers.append(("Content-Type", type or kind))

    def set_cookie(self, name: str, value: str, **attributes: Any) -> None:
        """Add a cookie; attributes as of http.cookies.Morsel: path, max_age, secure, httponly, samesite."""
        cookie: SimpleCookie = SimpleCookie()
        cookie[name] = value
        for key, setting in attributes.items():
            cookie[name][key.replace("_", "-")] = setting
        self.headers.append(("Set-Cookie", cookie[name].OutputString()))


def _text(latin: str) -> str:
    """PEP 3333 has bytes as latin-1; paths are UTF-8."""
    return latin.encode("latin-1").decode("utf-8", "replace")


def _blocks_of(body: Any) -> Tuple[str, Iterable[bytes]]:
    """(media type, blocks) of what a handler returned."""
    if body is None:
        return "", []
    if isinstance(body, str):
        return f"text/{'html' if isinstance(body, Html) else 'plain'}; charset=utf-8", [body.encode()]
    if isinstance(body, (bytes, bytearray, memoryview)):
        return "application/octet-stream", [bytes(body)]
    if isinstance(body, (dict, list)):
        return "application/json", [json.dumps(body).encode()]
    return "application/octet-stream", _Encoded(body)


class _Encoded:
    """Blocks that may be str; closed with what they come from."""

    def __init__(self, blocks: Iterable[Any]) -> None:
        self._blocks, self._iterator = blocks, iter(blocks)

    def __iter__(self) -> "_Encoded":
        return self

    def __next__(self) -> bytes:
        block = next(self._iterator)
        return block.encode() if isinstance(block, str) else block

    def close(self) -> None:
        close = getattr(self._blocks, "close", None)
        if close:
            close()


def response_of(result: Any) -> Response:
    """What a handler may return: a Response, a body, or (body, status[, headers])."""
    if isinstance(result, Response):
        return result
    return Response(*result) if isinstance(result, tuple) else Response(result)


class Route:
    """A pattern such as "/users/<int:number>/<path:rest>"."""

    def __init__(self, pattern: str, methods: Sequence[str]) -> None:
        expect("pattern", pattern, str)
        if isinstance(methods, str):  # a sequence of letters
            raise TypeError(f"methods must be a sequence such as ({methods!r},), not a str")
        for method in methods:
            expect("a method", method, str)
        if not pattern.startswith("/"):
            raise ValueError(f"a pattern begins with a slash: {pattern!r}")
        self.methods = frozenset(method.upper() for method in methods)
        self._types: Dict[str, Callable[[str], Any]] = {}
        expression, at = "", 0
        for variable in VARIABLE.finditer(pattern):
            expression += re.escape(pattern[at:variable.start()]) + self._group(pattern, variable)
            at = variable.end()
        self._expression = re.compile(expression + re.escape(pattern[at:]))

    def _group(self, pattern: str, variable: "re.Match[str]") -> str:
        kind, name = variable["kind"] or "str", variable["name"]
        if kind not in SEGMENTS or name in self._types:
            raise ValueError(f"{pattern!r}: unknown kind or repeated name in {variable[0]!r}")
        self._types[name] = SEGMENTS[kind][1]
        return f"(?P<{name}>{SEGMENTS[kind][0]})"

    def match(self, path: str) -> Optional[Dict[str, Any]]:
        """The variables of a path; None: it does not match."""
        found = self._expression.fullmatch(path)
        return {name: self._types[name](text) for name, text in found.groupdict().items()} if found else None


class Routes:
    """A WSGI application of handlers. A path that none of them has is left to the server's files."""

    def __init__(self) -> None:
        self._routes: List[Tuple[Route, Handler]] = []

    def add(self, route: Route, handler: Handler) -> None:
        """The handlers that were added first are tried first."""
        self._routes.append((route, handler))

    def _answer(self, environ: Dict[str, Any]) -> Optional[Response]:
        request, allowed = Request(environ), set()
        for route, handler in self._routes:
            variables = route.match(request.path)
            if variables is None:
                continue
            if request.method in route.methods or (request.method == "HEAD" and "GET" in route.methods):
                return response_of(handler(request, **variables))
            allowed |= route.methods
        if not allowed:
            return None
        allow = ", ".join(sorted(allowed | ({"HEAD"} if "GET" in allowed else set()) | {"OPTIONS"}))
        return Response(None, 204 if request.method == "OPTIONS" else 405, {"Allow": allow})

    def __call__(self, environ: Dict[str, Any], start_response: Callable[..., Any]) -> Any:
        try:
            response = self._answer(environ)
        except Abort as abort:
            response = Response(abort.text or HTTPStatus(abort.status).phrase, abort.status, type="text/plain; charset=utf-8")
        if response is None:
            return PASS
        try:
            phrase = HTTPStatus(response.status).phrase
        except ValueError:
            phrase = "Unknown"
        start_response(f"{response.status} {phrase}", response.headers)
        return response.blocks
