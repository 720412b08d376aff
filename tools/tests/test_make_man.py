# SPDX-License-Identifier: Apache-2.0
"""Manual pages that tools/make_man makes of the public headers."""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import subprocess

import pytest

TREE = pathlib.Path(__file__).parents[2]
OLD = {"libmonkey.h", "mk_lib.h"}  # with pages of their own


def load():
    loader = importlib.machinery.SourceFileLoader("make_man", str(TREE / "tools" / "make_man"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_man", loader))
    loader.exec_module(module)
    return module


make_man = load()

HEADER = """/* SPDX-License-Identifier: Apache-2.0 */
#ifndef X
#define X

/*
 * What it is for.
 *
 *     mk_one(1, "\\n");
 */

#ifdef __cplusplus
extern "C" {
#endif

struct mk_thing;

enum { MK_ONE = 1 }; /* a bound */

/**
 * Do one thing. With `--one` do two.
 * @param a   a number,
 *            not 0
 * @param b, c  others
 * @return 0; MK_E_NOMEM: no
 *         memory.
 */
MK_API int mk_one(int a,
                  int b, int c) MK_MUST_USE;

/* ---- others ---- */

/** A pair. */
MK_API void mk_new(void);
MK_API void mk_free(void);

#ifdef __cplusplus
}
#endif

#endif
"""


@pytest.fixture
def page(tmp_path):
    (tmp_path / "include" / "monkey").mkdir(parents=True)
    (tmp_path / "include" / "monkey" / "websocket.h").write_text(HEADER)
    return "\n".join(make_man.write_page(tmp_path, "monkey-websocket"))


@pytest.mark.parametrize("part", [
    ".Nm mk_one ,\n.Nm mk_new ,\n.Nm mk_free\n",
    'What it is for.\n.Bd -literal -offset indent\nmk_one(1, "\\en");\n.Ed\n',
    "enum { MK_ONE = 1 }; /* a bound */\n.Ed\n",
    "int mk_one(int a,\n           int b, int c);\n",
    "Do one thing.\nWith \\fB\\-\\-one\\fR do two.\n",
    ".It Fa a\na number, not 0\n.It Fa b , c\nothers\n.El\n",
    "Returns 0; MK_E_NOMEM: no memory.\n",
    ".Ss others\n",
    "void mk_new(void);\nvoid mk_free(void);\n.Ed\n",
])
def test_a_page_has(page, part):
    assert part in page, page


@pytest.mark.parametrize("part", ["MK_API", "MK_MUST_USE", "struct mk_thing", "@param", "extern"])
def test_a_page_is_without(page, part):
    assert part not in page, page


def test_each_header_is_on_one_page():
    headers = [header for page in make_man.PAGES.values() for header in page.headers]
    folder = TREE / "include" / "monkey"
    assert sorted(headers) == sorted(str(path.relative_to(folder)) for path in folder.rglob("*.h") if path.name not in OLD)


@pytest.mark.parametrize("name", make_man.PAGES)
def test_pages_render_without_a_warning(name, tmp_path):
    subprocess.run([TREE / "tools" / "make_man", TREE, tmp_path, name], check=True, timeout=60)
    commands = [["mandoc", "-Tlint", "-Wwarning"], ["groff", "-ww", "-mdoc", "-Tutf8", "-z"]]
    for words in commands:
        if shutil.which(words[0]):
            done = subprocess.run([*words, tmp_path / f"{name}.3"], capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 0 and not done.stdout + done.stderr, done.stdout + done.stderr
