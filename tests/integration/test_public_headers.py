# SPDX-License-Identifier: Apache-2.0
"""What docs/plugins.md promises of the public headers: each alone compiles as C99, C11, C++17 and C++20."""

import pathlib
import shutil
import subprocess

import pytest

from harness import process
from harness.config import section

pytestmark = pytest.mark.once("compilers read the headers")

TREE = pathlib.Path(__file__).parents[2]
HEADERS = sorted(str(path.relative_to(TREE / "include" / "monkey")) for path in (TREE / "include" / "monkey").rglob("*.h"))
EXAMPLES = sorted((TREE / "examples" / "plugins").glob("*/*.c"))
STRICT = ["-pedantic-errors", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror", "-fsyntax-only", f"-I{TREE}/include"]
CONVERSIONS = ["-Wconversion", "-Wsign-conversion"]  # of the headers: programs are compiled with them too
COMPILERS = {"c": [c for c in ("gcc", "clang") if shutil.which(c)], "c++": [c for c in ("g++", "clang++") if shutil.which(c)]}


def compile_text(language, standard, text, *options):
    for compiler in COMPILERS[language]:
        # clang has more warnings than gcc: those about what C++20 gave a meaning are no errors of the language
        more = ["-Wno-unused-const-variable"] if compiler.startswith("clang") else []
        done = subprocess.run([compiler, "-x", language, f"-std={standard}", *STRICT, *more, *options, "-"], input=text, capture_output=True,
                              text=True, timeout=60, check=False)
        assert done.returncode == 0, f"{compiler} -std={standard}\n{done.stderr[:3000]}"


def needs(language):
    if not COMPILERS[language]:
        pytest.skip(f"no compiler of {language}")


@pytest.mark.limit(600)  # compilers run once for each header, beside other compilers
@pytest.mark.parametrize("standard", ["c99", "c11", "c17"])
def test_each_header_alone_is_c(standard):
    needs("c")
    for header in HEADERS:
        compile_text("c", standard, f"#include <monkey/{header}>\n#include <monkey/{header}>\nint main(void) {{ return 0; }}\n", *CONVERSIONS)


@pytest.mark.limit(600)  # compilers run once for each header, beside other compilers
@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_each_header_alone_is_cpp(standard):
    needs("c++")
    for header in HEADERS:
        compile_text("c++", standard, f"#include <monkey/{header}>\n#include <monkey/{header}>\nint main() {{ return 0; }}\n", *CONVERSIONS)


@pytest.mark.parametrize("standard", ["c99", "c11"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_of_plugins_are_c(example, standard):
    """Beyond the language they use POSIX, which -std=c99 hides without its macro."""
    needs("c")
    compile_text("c", standard, "#define _GNU_SOURCE 1\n" + example.read_text())


STRINGS = """
#include <monkey/plugin.h>
static const struct mk_str table[] = {MK_STR_INIT("a"), MK_STR_INIT("bc")};
static size_t length(struct mk_str s) { return s.len; }
int main()
{
    struct mk_str one = MK_STR("one"), two = mk_str_from("two"), none = mk_str_from(NULL);
    return length(MK_STR("x")) == 1 && one.len == two.len && none.len == 0 && table[1].len == 2 ? 0 : 1;
}
"""


@pytest.mark.parametrize("standard", ["c++17", "c++20"])
def test_strings_in_cpp(standard, tmp_path):
    needs("c++")
    compile_text("c++", standard, STRINGS)
    (tmp_path / "strings.cc").write_text(STRINGS)
    program = tmp_path / "strings"
    subprocess.run([COMPILERS["c++"][0], f"-std={standard}", f"-I{TREE}/include", "strings.cc", "-o", program], cwd=tmp_path, check=True,
                   timeout=60)
    assert subprocess.run([program], check=False, timeout=30).returncode == 0


PLUGIN = """
#include <monkey/plugin.h>
struct hello_settings { const char *greeting; int64_t times; int colour; };
static const char *const colours[] = {"red", "green", NULL};
static int parse(struct mk_setup *, const struct mk_setting *) { return 0; }
static const struct mk_field hello_fields[] = {
    {.name = "Greeting", .type = MK_FIELD_STRING, .offset = offsetof(struct hello_settings, greeting), .fallback = "Hello"},
    {.name = "Times", .alias = "Often", .type = MK_FIELD_INT, .flags = MK_FIELD_RESTART,
     .offset = offsetof(struct hello_settings, times), .min = 1, .max = 10, .fallback = "1"},
    {.name = "Colour", .type = MK_FIELD_ENUM, .offset = offsetof(struct hello_settings, colour), .fallback = "red",
     .names = colours},
    {.name = "Own", .type = MK_FIELD_CUSTOM, .parse = parse},
};
static const struct mk_section_spec hello_section =
    MK_SECTION("HELLO", MK_SECTION_SITE, struct hello_settings, hello_fields);
static const struct mk_section_spec *const hello_sections[] = {&hello_section, NULL};
static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *)
{
    auto settings = static_cast<const hello_settings *>(ctx->site);
    return mk_reply_bytes(r, 200, "text/plain", mk_str_from(settings->greeting));
}
static const struct mk_plugin hello = {MK_PLUGIN("hello", "greets"), .sections = hello_sections, .on_handle = on_handle};
MK_PLUGIN_EXPORT(hello);
"""


def test_plugin_in_cpp20():
    """Its tables in the order that the documentation shows: C++20 refuses any but that of the members."""
    needs("c++")
    compile_text("c++", "c++20", PLUGIN)


def test_plugin_in_cpp20_runs(start, tmp_path):
    needs("c++")
    (tmp_path / "hello.cc").write_text(PLUGIN)
    made = tmp_path / "monkey-hello.so"
    subprocess.run([COMPILERS["c++"][0], "-std=c++20", f"-I{TREE}/include", "-shared", "-fPIC", "-fvisibility=hidden", "hello.cc", "-o", made],
                   cwd=tmp_path, check=True, timeout=60)
    server = start(extra={"plugins.load": section("PLUGINS", f"Load {made}")},
                   site=section("HANDLERS", "Match ^/hello hello") + section("HELLO", "Greeting Good day\nOften 3\nColour green"))
    assert server.get("/hello").text == "Good day"


def test_tables_are_shown_in_the_order_of_the_members():
    """Of the rows in the documentation, which C compilers take in any order."""
    header = (TREE / "include" / "monkey" / "settings.h").read_text()
    members = ["name", "alias", "type", "flags", "offset", "min", "max", "fallback", "names", "parse"]
    for path in [TREE / "include" / "monkey" / "settings.h", TREE / "docs" / "plugins.md", *EXAMPLES]:
        text = path.read_text()
        for row in text.split("{.name = ")[1:]:
            row = ".name = " + row.partition("}")[0]
            found = [members.index(word.partition(" ")[0]) for word in row.split(".")[1:] if word.partition(" ")[0] in members]
            assert found == sorted(found), f"{path}: {row}"
    body = header.partition("struct mk_field {")[2].partition("\n};")[0]
    places = [body.index(f"{member};") if f"{member};" in body else body.index(f"*{member})") for member in members]
    assert places == sorted(places)
