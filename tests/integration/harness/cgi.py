# SPDX-License-Identifier: Apache-2.0
"""Sites with scripts."""

import pathlib

from harness import process
from harness.config import section

HANDLERS = "Match ^/cgi-bin/ cgi"


def load(*more):
    return {"plugins.load": section("PLUGINS", "\n".join(f"Load {process.plugin(name)}" for name in ("cgi", *more)))}


def start_site(start, scripts, settings="", handlers=HANDLERS, files=None, extra=None, **kwargs):
    """scripts: name below cgi-bin/ -> text; they are made executable."""
    texts = {f"cgi-bin/{name}": text for name, text in scripts.items()}
    site = section("CGI", settings) if settings else ""
    server = start(handlers=handlers, files={**texts, **(files or {})}, site=site + kwargs.pop("site", ""),
                   extra={**load(), **(extra or {})}, **kwargs)
    server.wait_for_log("started workers=")  # only then its spawner is there
    make_executable(server, texts)
    return server


def make_executable(server, names):
    for name in names:
        path = server.config.root / name
        path.chmod(0o755)


def children(pid):
    """The processes below one, and below those."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            number, rest = path.read_text().split(" (", 1)
            parent = int(rest.rpartition(") ")[2].split()[1])
        except (OSError, ValueError):
            continue
        if parent == pid:
            found += [int(number), *children(int(number))]
    return found
