# SPDX-License-Identifier: Apache-2.0
"""A page of HTML as it is read: what is wrong with its elements, and what other pages may ask of it."""

import html.parser


class HtmlPage(html.parser.HTMLParser):
    VOID = {"meta", "link", "img", "br", "hr", "input", "col", "wbr", "path", "circle", "ellipse", "rect"}

    def __init__(self, text):
        super().__init__()
        self.open, self.faults, self.ids, self.title = [], [], set(), ""
        self.references = []  # of href and src
        self.loaded = []  # those of them that a browser fetches with the page
        self.has_script = False
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is not closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        references = [value for key, value in attrs if key in ("href", "src") and value]
        self.references += references
        if tag != "a":
            self.loaded += references
        name = attributes.get("id")
        if name in self.ids:
            self.faults.append(f'id "{name}" appears twice')
        if name:
            self.ids.add(name)
        if tag == "img" and "alt" not in attributes:
            self.faults.append("an image has no alt text")
        if tag == "a" and "a" in self.open:
            self.faults.append(f"a link at line {self.getpos()[0]} is in another")
        self.has_script |= tag == "script"
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at line {self.getpos()[0]} closes nothing")

    def handle_data(self, data):
        if self.open and self.open[-1] == "title":
            self.title += data
