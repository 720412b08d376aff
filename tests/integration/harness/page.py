# SPDX-License-Identifier: Apache-2.0
"""A page of HTML as a test sees it."""

import html.parser

VOID = ("meta", "path", "circle", "line", "polyline")


class Page(html.parser.HTMLParser):
    """What is open and was not closed; all the addresses and scripts."""

    def __init__(self, text):
        super().__init__()
        self.open, self.outside, self.count, self.text = [], [], {}, ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.outside += [value for name, value in attrs if name in ("href", "src", "xlink:href") or name.startswith("on")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data
