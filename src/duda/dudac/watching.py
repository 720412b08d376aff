# SPDX-License-Identifier: Apache-2.0
"""`dudac watch`: build and start anew whenever a file of the service was saved."""

import os
import pathlib
import sys
import time

from .failure import Failure
from .running import check_port, prepared

LOOK_EVERY = 0.3  # seconds
STATIC = ("html", "data", "logs")  # the server itself sees what changes there


def stamps(path):
    """File -> (time, size) of what a service is made of."""
    found = {}
    for folder, names, files in os.walk(path):
        is_top = pathlib.Path(folder) == pathlib.Path(path)
        names[:] = [name for name in names if not name.startswith(".") and not (is_top and name in STATIC)]
        for name in files:
            try:
                facts = os.stat(os.path.join(folder, name))
            except FileNotFoundError:  # an editor replaces it just now
                continue
            found[os.path.join(folder, name)] = facts.st_mtime_ns, facts.st_size
    return found


def _say(failure):
    print(f"dudac: {failure}", file=sys.stderr, flush=True)


def _report_end(run):
    """A server that ended by itself is reported once; the next saved file starts another."""
    if run.server and run.server.poll() is not None:
        try:
            run.report_end()
        except Failure as failure:
            _say(failure)
        run.server = None


def _start(run):
    """A fault is printed, and a server that runs stays if the service does not build."""
    try:
        services = run.build()
        if run.server:
            run.stop()
        else:
            check_port(run.options)
        run.start(services)
        run.options.port = run.server.port  # the browser's page stays where it was
    except Failure as failure:
        _say(failure)
        if run.server and run.server.poll() is not None:  # it did not start
            run.server = None


def watch_service(places, options):
    """Exit code 0 after Ctrl-C."""
    with prepared(places, options, keeps_sessions=True) as run:
        seen = stamps(options.path)
        _start(run)
        while True:  # until a signal
            time.sleep(LOOK_EVERY)
            _report_end(run)
            now = stamps(options.path)
            if now != seen:
                seen = now
                _start(run)
    return 0
