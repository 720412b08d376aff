# SPDX-License-Identifier: Apache-2.0
"""Pages of Markdown, as GitHub has it: CommonMark with tables, and headings that are places to link to."""

import html
import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

from docsite.body import Body, Heading, plain

PARSER = MarkdownIt("commonmark").enable("table")
CALL = re.compile(r"\w+->\w+")


def is_comment(token):
    return token.type == "html_block" and token.content.strip().startswith("<!--")


def verbatim(text):
    return Token("html_inline", "", 0, content=text)


def text_of(inline):
    return "".join(child.content for child in inline.children if child.type in ("text", "code_inline"))


def short(text):
    """Of a prototype, what it is called by."""
    call = CALL.search(text)
    return call[0] if call else text


def name_headings(tokens):
    """Give each heading the id that GitHub gives it; a prototype that of its call."""
    taken = {}
    for token, inline in zip(tokens, tokens[1:]):
        if token.type == "heading_open":
            text = short(text_of(inline))
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") or "section"
            number = taken[slug] = taken.get(slug, -1) + 1
            token.attrSet("id", f"{slug}-{number}" if number else slug)
            yield Heading(int(token.tag[1]), token.attrGet("id"), text)


def linked(children, links):
    """The parts of a paragraph with links that lead to pages. Where no page is, there is no link."""
    are_open = []
    for token in children:
        if token.type == "link_open":
            to = links.of(token.attrGet("href"))
            are_open.append(to is not None)
            token.tag, token.attrs = ("a", {"href": to}) if to else ("span", {})
        elif token.type == "link_close":
            token.tag = "a" if are_open.pop() else "span"
        elif token.type == "image":
            token.attrSet("src", links.of(token.attrGet("src")) or "")
        elif token.type == "text" and not are_open:
            token = verbatim(links.in_text(token.content))
        elif token.type == "code_inline" and not are_open and links.of_file(token.content):
            token = verbatim(f'<a href="{links.of_file(token.content)}"><code>{html.escape(token.content)}</code></a>')
        yield token


def summary_of(tokens):
    for token, inline in zip(tokens, tokens[1:]):
        if token.type == "paragraph_open":
            text = plain(PARSER.renderer.render([inline], PARSER.options, {}))
            return re.split(r"(?<=[.:]) ", text)[0].rstrip(":")
    return ""


def render(text, links):
    tokens = [token for token in PARSER.parse(text) if not is_comment(token)]
    summary = summary_of(tokens)
    headings = list(name_headings(tokens))
    for token in tokens:
        if token.type == "inline":
            token.children = list(linked(token.children, links))
    shown = PARSER.renderer.render(tokens, PARSER.options, {})
    shown = shown.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>")
    return Body(headings[0].text if headings else links.page.path, summary, shown, headings[1:])
