# SPDX-License-Identifier: Apache-2.0
"""The application of the case `wsgi`: 13 bytes for every path."""

BODY = b"Hello, world\n"


def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(BODY)))])
    return [BODY]
