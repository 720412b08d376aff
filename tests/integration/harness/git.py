# SPDX-License-Identifier: Apache-2.0
"""The client of git, as its users have it."""

import os

from harness import tools


class Git:
    """The client, with no settings but its own."""

    def __init__(self, home):
        self.home = home
        home.mkdir(exist_ok=True)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C",
                            "GIT_TERMINAL_PROMPT": "0", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
                            "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org"}

    def __call__(self, *words, at=None, trace=False):
        env = {**self.environment, **({"GIT_CURL_VERBOSE": "1"} if trace else {})}
        done = tools.run("git", *(["-C", at] if at else []), *words, env=env, timeout=50)
        assert done.returncode == 0, done.stderr.decode(errors="replace")[-3000:]
        return (done.stderr if trace else done.stdout).decode(errors="replace").strip()

    def commit(self, at, name, content):
        (at / name).write_bytes(content)
        self("add", name, at=at)
        self("commit", "--quiet", "--message", name, at=at)
        return self("rev-parse", "HEAD", at=at)
