# SPDX-License-Identifier: Apache-2.0
"""What a page refers to: from names as they stand in the tree to addresses of the site, relative to the page."""

import html
import posixpath
import re

OUTSIDE = re.compile(r"[a-z]+:")
MANUAL = re.compile(r"(?<![\w/.-])([a-z][\w.-]*\([1-8]\))")


class Links:
    def __init__(self, site, page):
        self.site, self.page = site, page

    def relative(self, address):
        return posixpath.relpath(address, posixpath.dirname(self.page.address) or ".")

    def of(self, reference):
        """Where a link of a page leads; None: to a folder or to nothing, so it is none on the site."""
        if OUTSIDE.match(reference) or reference.startswith("#"):
            return reference
        path, _, fragment = reference.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.page.path), path))
        address = self.site.address_of(path, self.page)
        return address and self.relative(address) + (f"#{fragment}" if fragment else "")

    def of_file(self, name):
        """Of a page that a text names by its path in the tree, such as docs/web.md; None: there is no such page."""
        page = self.site.pages.get(name)
        return page and page is not self.page and self.relative(page.address)

    def of_manual(self, name):
        """Of monkey.conf(5); None: it is of another project, or the page itself."""
        page = self.site.manuals.get(name)
        return page and page is not self.page and self.relative(page.address)

    def in_text(self, text):
        """A text as HTML, in which names of manual pages are links."""
        parts = [html.escape(part, quote=False) for part in MANUAL.split(text)]
        for at in range(1, len(parts), 2):
            to = self.of_manual(parts[at])
            parts[at] = f'<a href="{to}">{parts[at]}</a>' if to else parts[at]
        return "".join(parts)
