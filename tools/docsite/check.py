# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the site as it was written: each page by itself, and what pages ask of each other."""

import posixpath
import re
import urllib.parse

from docsite.html_page import HtmlPage

MOST_BYTES = 200 * 1024  # of each file
OUTSIDE = re.compile(r"(?:[a-z]+:|//)")


def references(address, page, pages, files):
    for reference in page.loaded:
        if OUTSIDE.match(reference):
            yield f"{reference} is from elsewhere"
    for reference in page.references:
        if OUTSIDE.match(reference):
            continue
        path, _, fragment = reference.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(address), urllib.parse.unquote(path))) if path else address
        if target not in files:
            yield f"there is no {reference}"
        elif fragment and urllib.parse.unquote(fragment) not in pages[target].ids:
            yield f"there is no id for {reference}"


def titles(pages):
    taken = {}
    for address, page in pages.items():
        first = taken.setdefault(page.title, address)
        if not page.title or first != address:
            yield f"{address}: has the title of {first}, {page.title!r}"


def check(folder):
    files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    pages = {address: HtmlPage(path.read_text()) for address, path in files.items() if path.suffix == ".html"}
    for address, path in files.items():
        size = path.stat().st_size
        if size > MOST_BYTES:
            yield f"{address}: has {size} bytes, more than {MOST_BYTES}"
        if path.suffix == ".css" and re.search(r"@import|url\(", path.read_text()):
            yield f"{address}: takes in something else"
    for address, page in pages.items():
        yield from (f"{address}: {fault}" for fault in [*page.faults, *references(address, page, pages, files)])
    yield from titles(pages)
