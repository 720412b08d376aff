# SPDX-License-Identifier: Apache-2.0
"""A configuration directory and a document root, written from what a test says inline."""

import os
import re
import shutil
import textwrap
import time

from harness import carriers, executable

# Root stays root, because the folders of tests are root's alone; others look into their servers, which core dumps allow.
RIGHTS = {"User": "root"} if os.geteuid() == 0 else {"CoreDumps": "on"}
DEFAULTS = {"Listen": "127.0.0.1:0", "Workers": "2", "ErrorLog": "stderr"}
INDENT = "    "


def section(name, lines):
    """A section of the configuration format; lines may be indented in any common way."""
    body = textwrap.indent(textwrap.dedent(lines).strip(), INDENT)
    return f"[{name}]\n{body}\n"


def write_files(folder, files):
    """files: name -> str or bytes, below folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


class Config:
    """
    What a test may say, all optional:

    server        lines of [SERVER]; Listen, Workers, ErrorLog and RIGHTS get a default when not given; "#User" leaves it out
    host          lines of [HOST] of the default site; DocumentRoot gets a default
    handlers      lines of [HANDLERS] of the default site
    error_pages   lines of [ERROR_PAGES] of the default site
    site          further sections of the default site, as written
    sites         name -> whole text of a further file in sites/
    files         name -> content below the document root
    extra         name -> whole text of further files of the configuration directory; monkey.conf too; None: without this file
    """

    def __init__(self, folder):
        self.folder = folder / "conf"
        self.root = folder / "root"
        self.root.mkdir(parents=True, exist_ok=True)

    def write(self, server="", host="", handlers="", error_pages="", site="", sites=None, files=None,
              extra=None):
        self._remove()
        texts = {
            "monkey.conf": section("SERVER", self._with_defaults(server, DEFAULTS)),
            "monkey.mime": section("MIMETYPES", "html text/html\ntxt text/plain\ncss text/css\n"
                                   "js application/javascript\npng image/png\nbin application/octet-stream"),
            "plugins.load": section("PLUGINS", ""),
            "sites/default": self._default_site(host, handlers, error_pages) + site,
        }
        texts.update({f"sites/{name}": textwrap.dedent(text) for name, text in (sites or {}).items()})
        texts.update(extra or {})
        texts = {name: text for name, text in texts.items() if text is not None}
        texts["monkey.conf"] = self._with_rights(texts["monkey.conf"])
        self._load_echo(texts)
        carriers.configure(texts, executable.plugin)
        write_files(self.folder, texts)
        write_files(self.root, files or {})

    @staticmethod
    def _load_echo(texts):
        """Behind what a test says, for the sites whose handlers name it."""
        if any(re.search(r"(?im)^\s*Match\s+\S+\s+echo\b", text) for text in texts.values() if isinstance(text, str)):
            plugin = "echo" if carriers.is_memory() else executable.plugin("echo")
            texts["plugins.load"] += f"    Load {plugin}\n"

    def _remove(self, attempts=20):
        """A running server may write a log into the folder at the same time."""
        for attempt in range(attempts):
            try:
                if self.folder.exists():
                    shutil.rmtree(self.folder)
                return
            except OSError:
                if attempt == attempts - 1:
                    raise
                time.sleep(0.05)

    def listen_lines(self):
        """How many addresses the server will listen on."""
        return max(1, len(re.findall(r"(?im)^\s+Listen\s", (self.folder / "monkey.conf").read_text())))

    def _default_site(self, host, handlers, error_pages):
        text = section("HOST", self._with_defaults(host, {"DocumentRoot": str(self.root)}))
        if handlers:
            text += section("HANDLERS", handlers)
        if error_pages:
            text += section("ERROR_PAGES", error_pages)
        return text

    @staticmethod
    def _with_rights(text):
        """Behind what a test says, so that its lines keep their numbers; a whole text of its own has it too."""
        lines = [f"{key} {value}" for key, value in RIGHTS.items() if not re.search(rf"(?im)^\s*#?{key}\s", text)]
        if not lines:
            return text
        indent = re.search(r"(?m)^[ \t]+(?=\S)", text)
        return f"{text.rstrip()}\n[SERVER]\n" + "".join(f"{indent[0] if indent else INDENT}{line}\n" for line in lines)

    @staticmethod
    def _with_defaults(lines, defaults):
        lines = textwrap.dedent(lines).strip()
        given = {line.split()[0].lower() for line in lines.splitlines() if line.strip()}
        missing = [f"{key} {value}" for key, value in defaults.items() if key.lower() not in given]
        return "\n".join(missing + [lines])
