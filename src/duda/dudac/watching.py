# SPDX-License-Identifier: Apache-2.0
"""`dudac watch`: build and load anew whenever a file of the service was saved, and show it in a page that follows."""

import os
import pathlib
import sys
import time

from .failure import Failure
from .running import check_port, prepared
from .watch_page import WatchPage

LOOK_EVERY = 0.2  # seconds
STATIC = ("html", "data", "logs")  # the server itself sees what changes there
PAGES = "html"
STARTS_MAX = 5  # of one build: what crashes at once is not started for ever


def stamps(path, is_skipped=lambda name: False):
    """File -> (time, size) below a folder, without those of folders directly in it that are skipped."""
    found = {}
    for folder, names, files in os.walk(path):
        is_top = pathlib.Path(folder) == pathlib.Path(path)
        names[:] = [name for name in names if not name.startswith(".") and not (is_top and is_skipped(name))]
        for name in files:
            try:
                facts = os.stat(os.path.join(folder, name))
            except FileNotFoundError:  # an editor replaces it just now
                continue
            found[os.path.join(folder, name)] = facts.st_mtime_ns, facts.st_size
    return found


class Watch:
    """One service, from one saved file to the next."""

    def __init__(self, run):
        self.run, self.page = run, WatchPage(run.run.pages)
        self.seen = self._look()
        self.server = self.name = None  # of the page
        self.services, self.starts = [], 0  # of the last build

    def _look(self):
        path = self.run.options.path
        return stamps(path, STATIC.__contains__), stamps(pathlib.Path(path) / PAGES)

    def _serve(self):
        services = self.run.build()
        self.name = services[0].name
        self.services, self.starts = services, 0
        if self.run.server:
            self.run.reload(services)
        else:
            check_port(self.run.options)
            self.run.start(services)

    def _show_page(self):
        """Once for each server."""
        if self.server is not self.run.server:
            self.server = self.run.server
            self.run.options.port = self.server.port  # the browser's page stays where it was
            self.page.show(self.name)
            print(f"Watch page  : {self.run.url('dudac')}", flush=True)

    def serve(self):
        """What is there now. An error is printed and shown in the page, and services that run stay."""
        try:
            self._serve()
            self.page.tell()
        except Failure as failure:
            self._report(failure)
            if self.run.server and self.run.server.poll() is not None:  # it did not start
                self.run.server = None
        if self.run.server:
            self._show_page()

    def _report(self, failure):
        print(f"dudac: {failure}", file=sys.stderr, flush=True)
        self.page.tell(f"{failure.detail}\n{failure}".lstrip())

    def _report_end(self):
        """A server that ended by itself is reported, and another one started, which shows the report in the page."""
        if not self.run.server or self.run.server.poll() is None:
            return
        try:
            self.run.report_end()
        except Failure as failure:
            self._report(failure)
        self.run.server = None
        self.starts += 1
        if self.starts <= STARTS_MAX:
            self._start_again()

    def _start_again(self):
        try:
            self.run.start(self.services)
            self._show_page()
        except Failure as failure:
            self._report(failure)
            self.run.server = None

    def turn(self):
        self._report_end()
        before, self.seen = self.seen, self._look()
        if self.seen[0] != before[0]:
            self.serve()
        elif self.seen[1] != before[1]:
            self.page.reload()


def watch_service(places, options):
    """Exit code 0 after Ctrl-C."""
    with prepared(places, options, is_watched=True) as run:
        watch = Watch(run)
        watch.serve()
        while True:  # until a signal
            time.sleep(LOOK_EVERY)
            watch.turn()
    return 0
