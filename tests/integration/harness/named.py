# SPDX-License-Identifier: Apache-2.0
"""A server that is asked by the names of its sites, on whatever ports it has here."""

import re

from harness import tools


class Named:
    """Where a server is, without TLS and with it, and what it answers to curl."""

    def __init__(self, plain, secure=None):
        self.ports = {"http": plain, "https": secure}

    def ask(self, url, *options):
        """(status, fields, body)"""
        scheme, host, path = re.fullmatch(r"(https?)://([\w.]+)(/.*)", url).groups()
        port = self.ports[scheme]
        done = tools.run("curl", "--silent", "--show-error", "--insecure", "--max-time", "20", "--include", "--http1.1", "--path-as-is",
                         "--connect-to", f"{host}:{443 if scheme == 'https' else 80}:127.0.0.1:{port}", *options, url)
        head, _, body = done.stdout.decode("latin-1").removeprefix("HTTP/1.1 100 Continue\r\n\r\n").partition("\r\n\r\n")
        first, *fields = head.split("\r\n")
        assert first.startswith("HTTP/"), done.stderr
        return int(first.split()[1]), {name.lower(): value for name, value in (line.split(": ", 1) for line in fields)}, body

    def status(self, url, *options):
        return self.ask(url, *options)[0]

    def statuses(self, url, count):
        """Of requests that follow each other on one connection."""
        _, _, text = self.ask(f"{url}?[1-{count}]", "--write-out", "\n%{http_code}\n")
        return [int(line) for line in text.splitlines() if re.fullmatch(r"\d{3}", line)]

    def body(self, url, *options):
        """Of an answer with status 200."""
        status, _, body = self.ask(url, *options)
        assert status == 200, (status, body)
        return body
