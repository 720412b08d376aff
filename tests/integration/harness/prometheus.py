# SPDX-License-Identifier: Apache-2.0
"""
Prometheus itself, as what scrapes a server.

    with prometheus.running(tmp_path, "scrape_configs: ...") as tracker:
        assert eventually(lambda: tracker.values('up{job="monkey"}') == [1], within=60, every=0.5), tracker.log()
"""

import contextlib
import json
import subprocess
import urllib.parse

from harness import tools
from harness.client import Connection, free_port


class Prometheus:
    def __init__(self, folder, text):
        self.port, self._log = free_port(), folder / "prometheus.log"
        (folder / "prometheus.yml").write_text(text)
        with open(self._log, "wb") as log:
            self.process = subprocess.Popen(
                [tools.require("prometheus"), f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                 f"--web.listen-address=127.0.0.1:{self.port}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def log(self):
        return self._log.read_text()

    def _get(self, path):
        """What its API says, or None while it says nothing."""
        try:
            with Connection(("127.0.0.1", self.port)) as connection:
                answer = connection.request(path)
        except OSError:
            return None
        return json.loads(answer.body)["data"] if answer.status == 200 else None

    def ask(self, query):
        """(labels, value) of each sample."""
        found = self._get("/api/v1/query?query=" + urllib.parse.quote(query))
        return found and [(one["metric"], float(one["value"][1])) for one in found["result"]]

    def values(self, query):
        return [value for _, value in self.ask(query) or []]

    def rules(self):
        """name -> health of each rule that was evaluated."""
        found = self._get("/api/v1/rules") or {"groups": []}
        return {rule["name"]: rule["health"] for group in found["groups"] for rule in group["rules"]}


@contextlib.contextmanager
def running(folder, text):
    tracker = Prometheus(folder, text)
    try:
        yield tracker
    finally:
        tracker.process.terminate()
        tracker.process.wait(30)
