# SPDX-License-Identifier: Apache-2.0
"""The page of `dudac watch`: it has the service's page in a frame, which it reloads, and errors above it."""

import json
import pathlib

TEXT = pathlib.Path(__file__).parent / "watch.html"


class WatchPage:
    """Files that the server serves below /dudac/: the page, and its state, for which the page asks."""

    def __init__(self, document_root):
        self.folder = document_root / "dudac"
        self.builds, self.error = 0, ""

    def show(self, name):
        """From now on, with the service of this name in the frame."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "index.html").write_text(TEXT.read_text().replace("@NAME@", name))
        self._write()

    def tell(self, error=""):
        """A build has ended: with an error, or there is something new in the frame."""
        self.error = error
        self.builds += not error
        self._write()

    def reload(self):
        """A file of the service's page was saved."""
        self.builds += 1
        self._write()

    def _write(self):
        if self.folder.is_dir():
            fresh = self.folder / "fresh"
            fresh.write_text(json.dumps({"build": self.builds, "error": self.error}))
            fresh.replace(self.folder / "state.json")
