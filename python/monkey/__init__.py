# SPDX-License-Identifier: Apache-2.0
"""
The web server Monkey inside Python.

    import monkey

    server = monkey.Server(listen=8080)

    @server.get("/hello/<name>")
    def hello(request, name):
        return f"Hello, {name}"

    server.run()

Any WSGI application is served by `python -m monkey module:application` or by monkey.Serving.
"""

from ._monkey import PASS, ConfigError, Error, FileWrapper, version as __version__
from .application import Server
from .classic import (Mimetype, Worker, configure, getconfig, init, mimetype_add, mimetype_list, scheduler_worker_info,
                      scheduler_workers_info, set_callback, start, stop, vhost_list)
from .routes import Abort, Html, Request, Response
from .serving import Serving

__all__ = [
    "PASS", "Abort", "ConfigError", "Error", "FileWrapper", "Html", "Mimetype", "Request", "Response", "Server", "Serving",
    "Worker", "configure", "getconfig", "init", "mimetype_add", "mimetype_list", "scheduler_worker_info",
    "scheduler_workers_info", "set_callback", "start", "stop", "vhost_list",
]
