# SPDX-License-Identifier: Apache-2.0
"""Sites with scripts."""

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
