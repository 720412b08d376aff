# SPDX-License-Identifier: Apache-2.0
"""
A service that makes each call of each object and package, from the headers, with arguments that nobody should pass.

    source, names = every_call.source(["json", "kv"])
    # GET /walk/HOW/N makes the call names[N]; HOW is a word of HOWS
"""

import importlib.machinery
import importlib.util
import re
from dataclasses import dataclass

from harness.executable import TREE

# Which request a call is given, and what its texts and numbers are.
REQUESTS = {"none": "NULL", "live": "dr", "ended": "dr", "old": "old"}
FILLINGS = ("zero", "some")
HOWS = [f"{request}-{filling}" for request in REQUESTS for filling in FILLINGS]

PLUGIN_API = re.compile(r"^struct plugin_api \{(.*?)^\};", re.M | re.S)

HEAD = """\
#include "webservice.h"
%s
DUDA_REGISTER("tests", "makes each call");

static duda_request_t *old; /* a request that is over */
static char text[] = "x";
"""

TAIL = """
static void (*const calls[])(duda_request_t *dr, int is_some) = {%s};

static void keep(duda_request_t *dr)
{
    old = dr;
    response->send(dr, 200, "text/plain", "kept");
}

static void alive(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "alive");
}

static void walk(duda_request_t *dr)
{
    const char *how = param->get(dr, "how");
    const int is_some = strstr(how, "-some") != NULL;
    long n = 0;

    param->get_number(dr, "n", &n);
    if (how[0] == 'e')
        response->send(dr, 200, "text/plain", "before");
    calls[n](how[0] == 'n' ? NULL : how[0] == 'o' ? old : dr, is_some);
    response->send(dr, 200, "text/plain", "behind");
}

int duda_main()
{
%s
    session->init("walk");
%s
    router->get("/keep", keep);
    router->get("/alive", alive);
    router->route("GET POST", "/:how/:n", walk);
    return 0;
}
"""


def tool():
    """tools/duda_pages, which reads the headers."""
    loader = importlib.machinery.SourceFileLoader("duda_pages", str(TREE / "tools" / "duda_pages"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("duda_pages", loader))
    loader.exec_module(module)
    return module


@dataclass(frozen=True)
class Call:
    package: str    # "": an object
    object: str     # an expression
    name: str       # with the underscore of a macro
    types: tuple    # of its arguments
    is_of_main: bool

    @property
    def shown(self):
        return f"{self.object}->{self.name}"


def split(arguments):
    """At the commas of the outermost level."""
    pieces, depth = [""], 0
    for character in arguments:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += character
    return [" ".join(piece.split()) for piece in pieces if piece.strip() not in ("", "void")]


def calls_of(pages, package, name, body, about=""):
    for above, declaration, _, behind in pages.MEMBER.findall(pages.LEVELS.sub("", body)):
        code = pages.FOR_COMPILERS.sub("", pages.COMMENT.sub("", declaration))
        found = re.search(r"\(\*(\w+)\)\((.*)\);", " ".join(code.split()))
        shown = {"param_by_index": "duda_objects_given->param_by_index", "param_by_key": "param"}.get(name, pages.VARIANTS.get(name, name))
        yield Call(package, shown, found[1], tuple(split(found[2])), "[M]" in about + above + declaration + behind)


def calls(packages):
    """All of duda_api.h, the interface of 2012, and these packages."""
    pages = tool()
    folder = TREE / pages.HEADERS
    found = list(calls_of(pages, "", "monkey", PLUGIN_API.search((folder / "mk_core.h").read_text())[1]))
    for package in ["", *packages]:
        header = folder / (f"packages/{package}/{package}.h" if package else "duda_api.h")
        for about, name, body in pages.OBJECT.findall(header.read_text()):
            if "(*" in body and name != "objects":
                found += calls_of(pages, package, name, body, about)
    return found


def argument(kind, is_some):
    if re.match(r"(const )?duda_request_t \*", kind) and "(" not in kind:
        return "dr"
    if re.match(r"(duda_global_t|mk_pointer) \w+$", kind):
        return f"({kind.split()[0]}){{0}}"
    if kind == "...":
        return "NULL"
    if re.match(r"int (\w*fd|sock\w*)$", kind):
        return "-1"  # the server's own descriptors are no business of a service
    if not is_some or "(*" in kind:
        return "0"
    if re.match(r"(const )?char \*(const )?\w*$", kind):
        return "text"
    return "1" if "*" not in kind and re.match(r"(const )?(unsigned|int|long|size_t|short|double|u?int\d+_t|off_t|time_t)\b", kind) else "0"


def function(number, call):
    made = [f"{call.shown}({', '.join(argument(kind, is_some) for kind in call.types)})" for is_some in (True, False)]
    return (f"static void call_{number}(duda_request_t *dr, int is_some)\n{{\n    if (is_some)\n        (void){made[0]};\n    else\n"
            f"        (void){made[1]};\n}}\n")


def source(made, packages, in_main=()):
    """C text. made: the calls, by number; in_main: numbers of those that duda_main() makes without a request."""
    loads = "\n".join(f'    duda_load_package({name}, "{name}");' for name in packages)
    mains = "\n".join(f"    call_{n}(NULL, 0);\n    call_{n}(NULL, 1);" for n in in_main)
    return "".join([HEAD % "\n".join(f'#include "packages/{name}/{name}.h"' for name in packages),
                    *(function(n, call) for n, call in enumerate(made)),
                    TAIL % (", ".join(f"call_{n}" for n in range(len(made))), loads, mains)])
