# SPDX-License-Identifier: Apache-2.0
"""The fields of a request that services read from its struct: as sent, the first of several, NULL where there is none."""

import pytest

from harness import duda

SERVICE = """
#include "webservice.h"

DUDA_REGISTER("fields", "what the struct of a request has");

static void show(duda_request_t *dr, mk_pointer field)
{
    if (!field.data)
        response->print(dr, "-", 1);
    else
        response->printf(dr, "<%.*s>", (int)field.len, field.data);
}

void cb_fields(duda_request_t *dr)
{
    response->http_status(dr, 200);
    show(dr, dr->sr->content_type);
    show(dr, dr->sr->connection);
    show(dr, dr->sr->if_modified_since);
    show(dr, dr->sr->range);
    response->end(dr, NULL);
}

int duda_main()
{
    map->static_add("/", "cb_fields");
    return 0;
}
"""
DATE = "Sun, 06 Nov 1994 08:49:37 GMT"  # RFC 9110 section 5.6.7


@pytest.fixture
def server(start, tmp_path):
    duda.build(tmp_path / "services", SERVICE, name="fields")
    return start(**duda.config(tmp_path / "services", "fields"))


@pytest.mark.parametrize("method, lines, shown", [
    ("GET", [], "----"),
    ("GET", ["Range: bytes=0-1", f"If-Modified-Since: {DATE}"], f"--<{DATE}><bytes=0-1>"),
    ("GET", ["rAnGe:\t bytes=1-2 ", "Range: bytes=3-4"], "---<bytes=1-2>"),
    ("GET", ["Content-Type:"], "<>---"),
    ("POST", ["Content-Type: text/plain", "Content-Length: 4"], "<text/plain>---"),
], ids=["none", "some", "repeated", "empty", "with a body"])
def test_fields_are_in_the_struct(server, method, lines, shown):
    with server.connect() as link:
        link.send("\r\n".join([f"{method} /fields/ HTTP/1.1", "Host: a", *lines, "", ""]).encode() + (b"body" if method == "POST" else b""))
        assert link.response().body.decode() == shown
