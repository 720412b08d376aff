# SPDX-License-Identifier: Apache-2.0
"""
One small application behind each plugin that passes requests on, with so many places for requests, and the same paths:

    BASE/quick   GET: "quick"
    BASE/count   POST: how many bytes the body has, and what Content-Length said ("-": nothing)
    BASE/echo    POST: the body, as it comes

    app = counters.CGI(start, tmp_path, places=4, buffering="auto")
    app.server, app.base, app.begun()       how many requests it has heard of
"""

from harness import cgi, fastcgi, http
from harness.backend import Backend, configured

SCRIPT = """#!/bin/sh
echo begun >>{folder}/begun
case $PATH_INFO in
/quick) answer=quick;;
/count) answer="$(($(wc -c))) ${{CONTENT_LENGTH:--}}";;
esac
printf 'Content-Type: text/plain\\n\\n%s' "$answer"
case $PATH_INFO in
/echo) exec cat;;
esac
"""


class CGI:
    base = "/cgi-bin/app"

    def __init__(self, start, folder, places=4, buffering=None, lines="", **kwargs):
        self.folder = folder
        settings = f"MaxProcesses {places}\n{lines}" + (f"\nRequestBuffering {buffering}" if buffering else "")
        self.server = cgi.start_site(start, {"app": SCRIPT.format(folder=folder)}, settings, **kwargs)

    def begun(self):
        file = self.folder / "begun"
        return file.read_text().count("begun") if file.exists() else 0

    def stop(self):
        pass


class FastCGI:
    base = ""

    def __init__(self, start, folder, places=4, buffering=None, lines="", **kwargs):
        self.calls = []
        self.application = fastcgi.Application(self.answer)
        location = f"Mount /\nKeepAlive on\n{lines}" + (f"\nRequestBuffering {buffering}" if buffering else "")
        self.server = start(**fastcgi.config(self.application, server=f"MaxConnections {places}", location=location), **kwargs)

    def answer(self, call):
        self.calls.append(call)
        path = call.params["PATH_INFO"]
        if path == "/quick":
            call.answer(b"quick")
        elif path == "/count":
            count = sum(len(piece) for piece in call.pieces())
            call.answer(f"{count} {call.params.get('CONTENT_LENGTH', '-')}".encode())
        else:
            call.out(b"Content-Type: text/plain\r\n\r\n")
            for piece in call.pieces():
                call.out(piece)
            call.end()

    def begun(self):
        return len(self.calls)

    def stop(self):
        self.application.stop()


class Proxy:
    base = ""

    def __init__(self, start, folder, places=4, buffering=None, lines="", **kwargs):
        self.heads = []
        self.backend = Backend(self.serve)
        entry = f"MaxConnections {places}\n{lines}" + (f"\nRequestBuffering {buffering}" if buffering else "")
        self.server = start(**configured(entry, self.backend), **kwargs)

    @staticmethod
    def pieces(conn, request):
        if request.header("Transfer-Encoding"):
            while piece := conn.chunk():
                yield piece
            assert conn.line() == b""
            return
        left = int(request.header("Content-Length"))
        while left > 0:
            if not conn.pending:
                conn.more()
            piece, conn.pending = conn.pending[:left], conn.pending[left:]
            left -= len(piece)
            yield piece

    def serve(self, conn):
        while request := conn.head():
            self.heads.append(request)
            if request.target == "/quick":
                conn.answer(b"quick")
            elif request.target == "/count":
                count = sum(len(piece) for piece in self.pieces(conn, request))
                conn.answer(f"{count} {request.header('Content-Length', '-')}".encode())
            else:
                conn.chunked(end=False)
                for piece in self.pieces(conn, request):
                    conn.send(http.chunk(piece))
                conn.send(b"0\r\n\r\n")

    def begun(self):
        return len(self.heads)

    def stop(self):
        self.backend.stop()


ALL = {"cgi": CGI, "fastcgi": FastCGI, "proxy": Proxy}
