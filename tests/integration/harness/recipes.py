# SPDX-License-Identifier: Apache-2.0
"""
The recipes of docs/recipes, run as they are written: only their folders are below one of the test, and ports are others.

    recipe = Recipe("node", tmp_path)
    server = recipe.serve(start, ("Listen 80", "Listen 127.0.0.1:0"), ("127.0.0.1:3000", backend.address))
    recipe.run(recipe.commands("monkey --test"))
"""

import os
import re
import subprocess

from harness import certificates, process, written

OUTER = re.compile(r"(?<![\w.])/(?=(?:etc|run|srv|usr/local|var)/)")
FOLDER = re.compile(r"(?m)^\s+(?:DocumentRoot|SpoolDirectory|Alias \S+) (/\S+)$")
FILE = re.compile(r"(?m)^\s+(?:AccessLog|ErrorLog|PidFile|CertificateFile|ServerPath) (/\S+)$")
MONKEY = """\
#!/bin/sh
case $1 in --make-cert) ;; *) set -- --configdir {conf} "$@" ;; esac
exec {program} "$@"
"""


class Recipe:
    """files: name -> text, of the page. folder: what / is for the folders of the page."""

    def __init__(self, name, folder):
        self.page = written.page(f"recipes/{name}")
        self.folder = folder
        self.files = {name: self.here(text) for name, text in written.files(self.page).items()}
        self.server = None
        for path in FOLDER.findall(self.files["monkey.conf"]):
            self._make_folder(path)
        for path in FILE.findall(self.files["monkey.conf"]):
            self._make_folder(os.path.dirname(path))

    @staticmethod
    def _make_folder(path):
        if not path.startswith("/dev"):
            os.makedirs(path, exist_ok=True)

    def here(self, text):
        return OUTER.sub(f"{self.folder}/", text)

    def path(self, name):
        """Where a path of the page is here: recipe.path("/srv/www")."""
        return self.folder / name.lstrip("/")

    def write(self, files):
        """files: path of the page -> text"""
        for name, text in files.items():
            self.path(name).parent.mkdir(parents=True, exist_ok=True)
            self.path(name).write_text(text)

    def certify(self, *names):
        """A certificate for these names where the page has that of the first."""
        pair, keys = certificates.issue(*names), self.path(f"/etc/monkey/keys/{names[0]}")
        keys.mkdir(parents=True, exist_ok=True)
        (keys / "cert.pem").write_bytes(pair.chain.read_bytes())
        (keys / "key.pem").write_bytes(pair.key.read_bytes())
        (keys / "key.pem").chmod(0o600)

    def config(self, *places):
        """What start() takes. The error log is where the harness reads it."""
        text = written.moved({"": self.files["monkey.conf"]}, *places)[""]
        text = re.sub(r"(?m)^(\s+ErrorLog) .*", r"\1 stderr", text)
        return {"extra": {"monkey.conf": text, "sites/default": None, "plugins.load": None}}

    def serve(self, start, *places, **more):
        self.server = start(**self.config(*places), **more)
        return self.server

    # -- commands

    def commands(self, word):
        return self.here(written.commands(self.page, word))

    def program(self, name, text):
        """A program that commands find by its name."""
        programs = self.folder / "bin"
        programs.mkdir(exist_ok=True)
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)

    def run(self, commands, check=True, **env):
        """Run commands of the page. `monkey` is the executable under test, with the configuration of the server that was started."""
        self.program("monkey", MONKEY.format(program=process.binary(), conf=self.server.conf if self.server else "/none"))
        done = subprocess.run(["sh", "-eu", "-c", commands], timeout=60, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              env={**process.environment(), **env, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"})
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done
