# SPDX-License-Identifier: Apache-2.0
"""The servers of the contest: an executable each in bench/contest/servers/; RULES.md says what it is asked."""

import os
import subprocess
from dataclasses import dataclass

import servers

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "servers")
PATIENCE = 120              # seconds for a question; a first build by Go takes longest


@dataclass(frozen=True)
class Entrant:
    name: str
    path: str
    env: tuple              # pairs that every call gets

    def ask(self, word, **env):
        """What it prints; empty when it fails: it is not installed."""
        try:
            done = subprocess.run([self.path, word], capture_output=True, text=True, timeout=PATIENCE, check=False,
                                  stdin=subprocess.DEVNULL, env={**os.environ, **dict(self.env), **env})
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return done.stdout.strip() if done.returncode == 0 else ""

    def abilities(self):
        return self.ask("can").split()

    def version(self):
        return (self.ask("version").splitlines() or [""])[0]

    def size_kb(self, scratch):
        """Of its own program and libraries, stripped; None: unknown."""
        total = 0
        for number, path in enumerate(self.ask("files").split()):
            copy = os.path.join(scratch, f"{self.name}-{number}")
            stripped = subprocess.run(["strip", "--strip-all", "-o", copy, os.path.realpath(path)], capture_output=True,
                                      check=False).returncode == 0
            try:
                total += os.path.getsize(copy if stripped else os.path.realpath(path))
            except OSError:
                return None
        return total / 1024 if total else None


def find(tools, monkey, wanted=None):
    """All that can run here, by name, ready to start; wanted: these alone."""
    env = (("TOOLS", tools), ("MONKEY", monkey), ("KEEP_SECONDS", str(servers.KEEP_SECONDS)), ("KEEP_REQUESTS", str(servers.KEEP_REQUESTS)),
           ("CORES", "1"))
    found = {}
    for name in sorted(os.listdir(FOLDER)):
        path = os.path.join(FOLDER, name)
        entrant = Entrant(name, path, env)
        if os.access(path, os.X_OK) and (not wanted or name in wanted) and entrant.abilities():
            entrant.ask("prepare")
            found[name] = entrant
    return found
