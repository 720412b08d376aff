# SPDX-License-Identifier: Apache-2.0
"""The checks of documentation and site must notice what is missing."""

import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import sys

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TREE / "tools"), str(TREE / "tests" / "perf")]

import budgets  # noqa: E402  behind the path that finds it
from testing import commands  # noqa: E402

KEEP = budgets.INSTRUCTIONS["keep"]
CHANGED = []  # paths of the copied tree that a test has made


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, str(TREE / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def copied_tree(tmp_path_factory):
    """The files of this tree, as links: replace() makes one of them another."""
    def left_out(folder, names):
        is_top = pathlib.Path(folder) == TREE
        return [n for n in names if n in ("__pycache__", "seeds", "crashes") or (is_top and (n == ".git" or n.startswith("build")))]

    return shutil.copytree(TREE, tmp_path_factory.mktemp("checks") / "tree", ignore=left_out, copy_function=os.symlink)


@pytest.fixture
def tree(copied_tree):
    """That tree; what a test made of its files is undone."""
    yield copied_tree
    for changed in CHANGED:
        changed.unlink()
        if (TREE / changed.relative_to(copied_tree)).exists():
            changed.symlink_to(TREE / changed.relative_to(copied_tree))
    CHANGED.clear()


def replace(path, old, new):
    text = path.read_text()
    assert old in text
    path.unlink()
    path.write_text(text.replace(old, new, 1))
    CHANGED.append(path)


def faults(tree):
    docs = load("check_docs").Docs(tree)
    docs.check_settings()
    docs.check_limits()
    docs.check_options()
    docs.check_comments()
    docs.check_calls()
    docs.check_pages()
    docs.check_style()
    docs.check_needs()
    docs.check_old_calls()
    docs.check_object_calls()
    docs.check_object_pages()
    docs.check_budgets()
    return docs.faults


def test_the_tree_is_well(tree):
    assert faults(tree) == []


@pytest.mark.parametrize("file, old, new, told", [
    ("docs/man/monkey.conf.5", ".BI KeepAliveTimeout", ".BI KeptAliveTimeout", "[SERVER] KeepAliveTimeout is missing"),
    ("docs/man/monkey.conf.5", "\\fB1000\\fR", "\\fB999\\fR", "the default is 1000"),
    ("docs/man/monkey.conf.5", ".SH [HOST]\n", ".SH [HOST]\n.TP\n.B Gone\nno more\n", "no such key"),
    ("docs/man/monkey.conf.5", "MinReadRate           150", "MinReadRate           160", "LIMIT FOR WHAT: [SERVER] MinReadRate: the default is 150"),
    ("docs/man/monkey.conf.5", "[SERVER]*\npause", "[SERVER]\npause", "LIMIT FOR WHAT: [SERVER] MaxBodySize: the star is wrong"),
    ("docs/man/monkey.conf.5", "QueueTimeout          10       [PROXY_ENTRY]\n", "", "LIMIT FOR WHAT: [PROXY_ENTRY] QueueTimeout is missing"),
    ("docs/man/monkey-auth.5", ".BI Title", ".BI Tittle", "monkey-auth.5: [AUTH] Title is missing"),
    ("docs/older-programs.md", "| `mk_mq_send` |", "| `mk_mq_sent` |", "mk_mq_send is missing"),
    ("docs/older-programs.md", "_mklib.c` | allocate |", "_mklib.c` | show |", "mklib_get_request_header: show in"),
    ("docs/older-programs.md", "| a_second_stop_is_refused |", "| a_third_stop |", "mklib_stop: a_third_stop in"),
    ("docs/duda/api/response.md", "Queue bytes.", "Queue.", "docs/duda/api/response.md: not what the headers say"),
    ("docs/duda/calls.md", "| `cookie->set` |", "| `cookie->sat` |", "cookie->set is missing"),
    ("docs/duda/calls.md", "| `xtime->now` | `tests/unit/duda/objects/plain/test_monkey_time.c`", "| `xtime->now` | `tests/unit/duda/objects/events/test_loops.c`",
     "test_loops.c does not call xtime->now"),
    ("docs/man/monkey-auth.5", ".BI Title", ".BI Tittle", "monkey-auth.5: [AUTH] Tittle: the server has no such key"),
    ("docs/man/monkey-tls.5", ".BI KernelTLS", ".BI KernalTLS", "monkey-tls.5: [TLS] KernelTLS is missing"),
    ("docs/man/monkey-proxy_reverse.5", ".BI SlowStart", ".BI Slow", "[PROXY_DEFAULTS] SlowStart is missing"),
    ("conf/monkey.conf", "Listen 2001", "Listn 2001", "conf/monkey.conf: there is no key Listn"),
    ("docs/man/monkey.8", ".It Fl -dump", ".It Fl -dumb", "--dump is missing"),
    ("include/monkey/types.h", "/** @return the sentence", "@return the sentence", "mk_error_text has no comment"),
    ("tools/make_man", '"web/json.h", ', "", "mk_json_array is on no page"),
    ("docs/budgets.md", f"| {KEEP} |", f"| {KEEP + 20} |", f"keep: INSTRUCTIONS is {KEEP}"),
    ("docs/plugins.md", "`mk_reply_trailer`", "`mk_reply_tailor`", "no test calls mk_reply_tailor"),
    ("README.md", "# Monkey", "# Monkey `mk_no_such()`", "there is no function mk_no_such"),
    ("README.md", "# Monkey", "# Monkey [page](docs/none.md)", "leads nowhere"),
    ("README.md", "# Monkey", "# Monkey `src/none.c`", "there is no src/none.c"),
    ("CONTRIBUTING.md", "# Contributing", "# Contributing `src/none.c`", "there is no src/none.c"),
    ("docs/style.md", "S_ISDIR(st.st_mode)", "S_ISREG(st.st_mode)", "this is not in src/plugins/file/file.c: static bool is_folder"),
])
def test_a_gap_is_told(tree, file, old, new, told):
    if "types.h" in file:
        replace(tree / file, old, new)
        text = (tree / file).read_text()
        (tree / file).write_text(text.replace("Any thread. */", "Any thread.", 1))
    else:
        replace(tree / file, old, new)
    assert any(told in fault for fault in faults(tree)), faults(tree)


@pytest.mark.parametrize("old, new, told", [
    ('href="style.css"', 'href="https://example.org/style.css"', "from elsewhere"),
    ('href="style.css"', 'href="styles.css"', "there is no styles.css"),
    ('href="#read"', 'href="#reed"', "no id for #reed"),
    ("</main>", "", "closes nothing"),
    ("</body>", "<script>1</script></body>", "has a script"),
    (' alt=""', "", "no alt text"),
])
def test_a_fault_of_the_site_is_told(tree, old, new, told):
    replace(tree / "htdocs" / "index.html", old, new)
    found = list(load("check_site").check(tree / "htdocs"))
    assert any(told in fault for fault in found), found


def test_a_site_that_grew_too_large_is_told(tree):
    film = tree / "htdocs" / "film.mp4"
    film.write_bytes(b"x" * 200_000)
    CHANGED.append(film)
    assert any("more than" in fault for fault in load("check_site").check(tree / "htdocs"))


OTHER = [("plugin", "logger", {"logger_open"}), ("plugin", "proxy_reverse", {"proxy_begin"}), ("kit", "tls", {"tls_warn"}),
         ("kit", "digest", {"sha1_add", "digest_hmac"})]


@pytest.mark.parametrize("kind, name, symbol, told", [
    ("plugin", "compress", "compress_tally_new", []),
    ("plugin", "compress", "tally_new", ["src/plugins/compress: tally_new does not begin with compress_"]),
    ("plugin", "compress", "compressed", ["src/plugins/compress: compressed does not begin with compress_"]),
    ("plugin", "proxy_reverse", "proxy_reverse_begin", []),
    ("plugin", "tls", "tls_warn", ["src/plugins/tls: tls_warn does not begin with openssl_"]),
    ("plugin", "digest", "digest_hmac", ["src/plugins/digest: digest_hmac is also in src/kit/digest"]),
    ("kit", "digest", "hmac", ["src/kit/digest: hmac does not begin with digest_ or md5_ or sha1_"]),
])
def test_a_name_that_others_may_have_is_told(kind, name, symbol, told):
    names = {(k, n): symbols for k, n, symbols in OTHER}
    names[kind, name] = names.get((kind, name), set()) | {symbol}
    assert load("check_names").faults(names) == told


CMOCKA = "[==========] Running 3 test(s).\n[ RUN      ] a\n[       OK ] a\n[ RUN      ] b\n[  FAILED  ] b\n"


@pytest.mark.parametrize("output, result, counted", [
    ("[       OK ] a\n[       OK ] b\n[  PASSED  ] 2 test(s).", "OK", (2, 0)),
    (CMOCKA + "[  PASSED  ] 1 test(s).\n[  FAILED  ] tests: 1 test(s), listed below:\n[  FAILED  ] b\n", "FAIL", (1, 1)),
    (CMOCKA + "[  PASSED  ] 1 test(s).\n[  FAILED  ] 1 test(s), listed below:\n[  FAILED  ] b\n", "FAIL", (1, 1)),
    ("[       OK ] a\nSegmentation fault", "FAIL", (1, 1)),
    ("replayed", "OK", (1, 0)),
    ("", "TIMEOUT", (0, 1)),
])
def test_cases_are_counted(output, result, counted):
    assert commands.count_cases({"stderr": output, "result": result}) == counted
