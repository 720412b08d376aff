# SPDX-License-Identifier: Apache-2.0
"""The layer check must notice each kind of fault, and nothing in a good tree."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from check_layers import Checker  # noqa: E402

GOOD = {
    "include/monkey/types.h": "#include <stddef.h>\n",
    "include/monkey/server.h": "#include <monkey/types.h>\n",
    "src/base/str.h": "#include <monkey/types.h>\nint mk_str;\n",
    "src/base/str.c": '#include "base/str.h"\n\n#include <string.h>\n',
    "src/core/fd.c": '#include "base/str.h"\n#include <sys/epoll.h>\n',
    "src/http/uri_int.h": "struct mk_uri;\n",
    "src/http/uri.c": '#include "http/uri_int.h"\n#include "base/str.h"\n',
    "src/http/date.c": '#include "http/uri_int.h"\n',
    "src/server/h1/conn.h": '#include "base/str.h"\nstruct mk_conn;\n',
    "src/server/h1/conn.c": '#include "server/h1/conn.h"\n#include <monkey/server.h>\n',
    "src/server/run/run.c": '#include "server/run/run_int.h"\n#include "server/h1/conn.h"\n',
    "src/server/run/run_int.h": "int run;\n",
    "src/server/link/way_int.h": "int way;\n",
    "tests/unit/server/fixture.h": '#include "server/run/run_int.h"\n',
    "tests/unit/server/h1/test_conn.c": '#include "fixture.h"\n#include "server/h1/conn.h"\n',
    "src/bin/main.c": '#include "bin/options.h"\n#include <monkey/server.h>\n',
    "src/bin/options.h": "struct options;\n",
    "src/plugins/auth/auth.c": '#include "hash.h"\n#include <monkey/server.h>\n#include <crypt.h>\n',
    "src/plugins/auth/hash.h": "int hash;\n",
    "src/plugins/auth/kit.c": '#include "kit/text/text.h"\n',
    "src/kit/text/text.h": '#include "kit/pure/hash.h"\nint text;\n',
    "src/kit/pure/hash.h": "#include <monkey/types.h>\n#include <string.h>\nint hash;\n",
    "src/base/hash.c": '#include "kit/pure/hash.h"\n',
    "src/compat/hash.c": '#include "kit/pure/hash.h"\n',
    "src/plugins/proxy_reverse/proxy_reverse.c": '#include "exchange/head.h"\n',
    "src/plugins/proxy_reverse/entry/list.h": "int list;\n",
    "src/plugins/proxy_reverse/exchange/head.h": '#include "entry/list.h"\n#include "exchange/way_int.h"\nint head;\n',
    "src/plugins/proxy_reverse/exchange/way_int.h": "int way;\n",
    "tests/unit/http/test_uri.c": '#include "http/uri_int.h"\n#include <cmocka.h>\n',
    "examples/hello.c": "#include <monkey/server.h>\n",
}


def faults(tmp_path, **changed):
    for name, text in {**GOOD, **changed.get("files", {})}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Checker(tmp_path).check()


def test_nothing_is_wrong_in_a_good_tree(tmp_path):
    assert faults(tmp_path) == []


@pytest.mark.parametrize("name, text, told", [
    ("src/server/answer/seam.c", 'int f(void)\n{\n    return r->conn->job->in;\n}\n', "conn->job is for src/server/h1 only"),
    ("src/server/answer/step.c", "int f(void)\n{\n    return mk_h1_fill(c);\n}\n", "mk_h1_fill is for src/server/h1 only"),
    ("src/server/answer/line.c", 'const char *line = "HTTP/1.1 200 OK";\n', "is for src/server/h1 only"),
    ("src/base/up.c", '#include "server/h1/conn.h"\n', "base may not see server"),
    ("src/core/side.c", '#include "http/uri.h"\n', "core may not see http"),
    ("src/http/side.c", '#include "settings/field.h"\n', "http may not see settings"),
    ("src/settings/up.c", '#include "conf/conf.h"\n', "settings may not see conf"),
    ("src/conf/up.c", '#include "http/date.h"\n', "conf may not see http"),
    ("src/server/up.c", '#include "conf/conf.h"\n', "server may not see conf"),
    ("src/base/public.c", "#include <monkey/server.h>\n", "base sees <monkey/types.h>"),
    ("src/core/library.c", "#include <openssl/ssl.h>\n", "not of libc"),
    ("src/http/impure.c", "#include <sys/socket.h>\n", "http is pure"),
    ("src/server/inside.c", '#include "http/uri_int.h"\n', "for the files of src/http only"),
    ("src/server/missing.c", '#include "server/none.h"\n', "does not exist"),
    ("src/base/short.c", '#include "str.h"\n', 'as in "base/str.h"'),
    ("src/base/kit.c", '#include "kit/text/text.h"\n', "base may not see kit"),
    ("src/kit/pure/up.c", '#include "kit/text/text.h"\n', "kit/pure lies below the rest of the kit"),
    ("src/kit/pure/lock.c", "#include <pthread.h>\n", "kit/pure is pure"),
    ("src/kit/pure/server.c", "#include <monkey/server.h>\n", "kit/pure is pure"),
    ("examples/kit.c", '#include "kit/pure/hash.h"\n', "is not in examples"),
    ("src/compat/kit.c", '#include "kit/text/text.h"\n', "is not in src/compat"),
    ("src/plugins/auth/kit.c", '#include "kit/text/none.h"\n', "is not in src/plugins/auth"),
    ("src/base/dots.c", '#include "../core/fd.h"\n', "from src/"),
    ("src/base/str.c", '#include <string.h>\n#include "base/str.h"\n', "own header"),
    ("src/base/str.c", "int x;\n", "own header"),
    ("src/base/all.h", '#pragma once\n#include "base/str.h"\n#include <stdio.h>\n', "umbrella"),
    ("src/bin/peek.c", '#include "server/h1/conn.h"\n', "lives on <monkey/...>"),
    ("src/bin/relative.c", '#include "../server/conn.h"\n', "lives on <monkey/...>"),
    ("src/plugins/cgi/cgi.c", '#include "plugins/auth/hash.h"\n', "not in src/plugins/cgi"),
    ("src/plugins/proxy_reverse/entry/up.c", '#include "exchange/head.h"\n', "the room entry may not see exchange"),
    ("src/plugins/proxy_reverse/entry/near.c", '#include "list.h"\n', 'write "entry/list.h"'),
    ("src/plugins/proxy_reverse/peek.c", '#include "exchange/way_int.h"\n', "files of its room only"),
    ("src/plugins/proxy_reverse/extra/x.c", "int x;\n", "proxy_reverse/extra: is no room"),
    ("src/server/route/up.c", '#include "server/h1/conn.h"\n', "the room route may not see h1"),
    ("src/server/events/up.c", '#include "server/run/run_int.h"\n', "the room events may not see run"),
    ("src/server/route/peek.c", '#include "server/link/way_int.h"\n', "files of its room only"),
    ("src/server/odd/x.c", "int x;\n", "server/odd: is no room"),
    ("tests/unit/server/answer/test_up.c", '#include "server/h1/conn.h"\n', "a test of the room answer may not see h1"),
    ("src/duda/duda.c", '#include "base/str.h"\n', "not in src/duda"),
    ("tools/wr.c", '#include "base/str.h"\n', "not in tools"),
    ("examples/peek.c", '#include "../src/base/str.h"\n', "not in examples"),
    ("include/monkey/bad.h", "#include <openssl/ssl.h>\n", "a public header includes only"),
    ("tests/unit/http/test_up.c", '#include "server/h1/conn.h"\n', "a test of http may not see server"),
    ("src/extra/x.c", "int x;\n", "src/extra: is no layer"),
])
def test_a_fault_is_told_where_it_is(tmp_path, name, text, told):
    found = faults(tmp_path, files={name: text})
    assert len(found) == 1
    assert told in found[0]
    assert found[0].startswith(name.removesuffix("/x.c"))


def test_an_include_in_a_comment_does_not_count(tmp_path):
    assert faults(tmp_path, files={"src/base/note.c": '/*\n#include "server/h1/conn.h"\n*/\n'}) == []


def test_the_line_is_that_of_the_include(tmp_path):
    found = faults(tmp_path, files={"src/base/up.c": '/* two\n lines */\n\n#include "core/fd.h"\n'})
    assert found[0].startswith("src/base/up.c:4: ")
