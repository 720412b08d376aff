# SPDX-License-Identifier: Apache-2.0
"""python -m monkey module:application"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import Any, Callable, List, Optional

from . import ConfigError, Error, __version__
from .serving import Serving, Setting, listen_settings
from .signals import Signals, serve_until_signal
from .standard_output import StandardOutput

SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size(text: str) -> int:
    """A number of bytes with an optional K, M or G."""
    unit = text[-1:].upper() if text[-1:].isalpha() else ""
    if unit not in SIZES or not text.removesuffix(text[-1:] if unit else "").isdigit():
        raise argparse.ArgumentTypeError(f"expected a size such as 64K or 10M, got {text!r}")
    return int(text.removesuffix(text[-1:] if unit else "")) * SIZES[unit]


def parser() -> argparse.ArgumentParser:
    it = argparse.ArgumentParser(prog="python -m monkey", description="Serve a WSGI application.")
    it.add_argument("application", help="MODULE:NAME, or MODULE for its `application`; NAME() calls a factory without arguments")
    it.add_argument("--listen", action="append", metavar="ADDRESS", help="port, address:port or unix:/path; may be repeated (127.0.0.1:8000)")
    it.add_argument("--certfile", metavar="FILE", help="serve HTTPS on all addresses, with this certificate in PEM; needs --keyfile")
    it.add_argument("--keyfile", metavar="FILE", help="its private key in PEM; both files are read again on HUP")
    it.add_argument("--workers", type=int, default=1, help="threads of the server's event loops (1)")
    it.add_argument("--threads", type=int, default=8, help="Python threads that run the application (8)")
    it.add_argument("--waiting", type=int, default=1024, help="requests that may wait for a thread; further ones get 503 (1024)")
    it.add_argument("--body-memory", type=size, default="1M", metavar="SIZE", help="bytes of a request's body in memory; the rest is in a file (1M)")
    it.add_argument("--max-body", default="1G", metavar="SIZE", help="largest request body; larger ones get 413 (1G)")
    it.add_argument("--spool", metavar="DIR", help="directory for those files (TMPDIR, /tmp)")
    it.add_argument("--stream", action="store_true", help="call the application before the request's body has arrived")
    it.add_argument("--answer-memory", type=size, default="256K", metavar="SIZE", help="bytes of an answer that wait for a slow client (256K)")
    it.add_argument("--timeout", type=int, default=60, metavar="SECONDS", help="time in which the application must begin or continue its answer; 0: none (60)")
    it.add_argument("--grace", type=float, default=30, metavar="SECONDS", help="time for requests in flight after TERM (30)")
    it.add_argument("--script-name", default="", metavar="PATH", help="path under which the application is, such as /shop")
    it.add_argument("--access-log", metavar="FILE", help="write a line for each request; - is standard output")
    it.add_argument("--error-log", default="stderr", metavar="FILE", help="file, stderr or syslog (stderr)")
    it.add_argument("--log-level", default="info", help="error, warn, info or debug (info)")
    it.add_argument("--config", metavar="DIR", help="configuration directory of Monkey: sites, TLS, plugins; options override it")
    it.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="a further setting, such as SERVER.KeepAliveTimeout=5")
    it.add_argument("--chdir", metavar="DIR", help="change to this directory first")
    it.add_argument("--version", action="version", version=f"monkey {__version__}")
    return it


def load(name: str) -> Callable[..., Any]:
    """The application of "module:name"."""
    module_name, _, path = name.partition(":")
    path = path or "application"
    found: Any = importlib.import_module(module_name)
    for part in path.removesuffix("()").split("."):
        found = getattr(found, part)
    if path.endswith("()"):
        found = found()
    if not callable(found):
        raise TypeError(f"{name} is not callable")
    return found


def settings(options: argparse.Namespace, output: Optional[StandardOutput] = None) -> List[Setting]:
    """
    What the options say in words of Monkey's configuration. Without a directory of files each has its default;
    with one, only those that were given override it. output is there when the access log is standard output.
    """
    listen = options.listen or ([] if options.config else ["127.0.0.1:8000"])
    if options.certfile:
        listen = [f"{address} tls" for address in listen]
    result: List[Setting] = listen_settings(listen, 0 if options.config and "--workers" not in sys.argv else options.workers)
    result += [("SERVER", "MaxBodySize", str(options.max_body)), ("SERVER", "HandlerTimeout", str(options.timeout)),
               ("SERVER", "ErrorLog", options.error_log), ("SERVER", "LogLevel", options.log_level)]
    if options.access_log:
        log = output.path if output else os.path.abspath(options.access_log)
        result += [("PLUGINS", "Load", "logger"), ("LOGGER", "MasterLog", log)]
    if options.certfile:
        result += [("PLUGINS", "Load", "tls"), ("TLS", "CertificateFile", os.path.abspath(options.certfile)),
                   ("TLS", "KeyFile", os.path.abspath(options.keyfile))]
    for text in options.set:
        place, _, value = text.partition("=")
        section, _, key = place.partition(".")
        result.append((section, key, value))
    return result


def _reload(serving: Serving, options: argparse.Namespace, output: Optional[StandardOutput]) -> None:
    try:
        serving.reload(settings(options, output), options.config)
    except Error as error:
        print(error, file=sys.stderr, flush=True)


def main(arguments: Optional[List[str]] = None) -> int:
    words = parser()
    options = words.parse_args(arguments)
    if bool(options.certfile) != bool(options.keyfile):
        words.error("--certfile and --keyfile need each other")
    if options.certfile and options.config and not options.listen:
        words.error("--certfile with --config needs --listen")
    if options.chdir:
        os.chdir(options.chdir)
    sys.path.insert(0, os.getcwd())
    try:
        application = load(options.application)
    except (ImportError, AttributeError, TypeError) as error:
        print(f"python -m monkey: cannot load {options.application}: {error}", file=sys.stderr)
        return 2
    signals = Signals()
    output = StandardOutput() if options.access_log == "-" else None
    try:
        serving = Serving(application, threads=options.threads, body_memory=options.body_memory, answer_memory=options.answer_memory,
                          waiting=options.waiting, streamed=options.stream, script_name=options.script_name, spool=options.spool)
        serving.start(settings(options, output), options.config)
    except (ConfigError, ValueError) as error:
        print(f"python -m monkey: {error}", file=sys.stderr)
        return 2
    except Error as error:
        print(f"python -m monkey: {error}", file=sys.stderr)
        return 1
    serve_until_signal(serving, signals, lambda: _reload(serving, options, output), options.grace)
    if not serving.close():
        print("python -m monkey: the application does not end; exiting without it", file=sys.stderr, flush=True)
        os._exit(1)
    if output:
        output.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
