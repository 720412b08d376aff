# SPDX-License-Identifier: Apache-2.0
"""The least that a WSGI application is (PEP 3333)."""

import html
import urllib.parse


def application(environ, start_response):
    name = urllib.parse.parse_qs(environ.get("QUERY_STRING", "")).get("name", ["nobody"])[0]
    text = f"<!DOCTYPE html>\n<title>Hello</title>\n<p>{html.escape(environ.get('PATH_INFO', '/'))} greets {html.escape(name)}.\n"
    start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
    return [text.encode()]
