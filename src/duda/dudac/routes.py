# SPDX-License-Identifier: Apache-2.0
"""`dudac routes`: which paths a service has, read from its sources."""

import pathlib
import re
from dataclasses import dataclass

from .building import makefiles
from .options import Misuse

CALL = re.compile(r"(?:(\w+)\s*=\s*)?\b(?:map|router|console|input)->(static_add|static_add_ref|static_root|interface_new|method_new|"
                  r"method_builtin_new|interface_add_method|map|root|dashboard|get|post|put|patch|delete|del|route|describe|specify|group|publish)\s*\(([^;]*)\)\s*;")
FUNCTION = re.compile(r"^[\w\s*]*?\b(\w+)\([^;{}]*\)\s*\{", re.M)
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
TEXT_OR_COMMENT = re.compile(rf"{TEXT.pattern}|/\*.*?\*/|//[^\n]*", re.S)
ARGUMENT = re.compile(rf"(?:{TEXT.pattern}|[^,\"])+")
TABLE = re.compile(r"\bstruct\s+duda_inputs\s+(\w+)\s*=\s*\{([^;]*)\}\s*;")
ROWS = re.compile(r"\bstruct\s+duda_input\s+(\w+)\s*\[\]\s*=\s*\{([^;]*)\}\s*;")
ROW = re.compile(rf'\{{\s*(\.name\s*=(?:{TEXT.pattern}|[^{{}}"])*)\}}')
MEMBER = re.compile(rf'\.(\w+)\s*=\s*(?:{TEXT.pattern}|([^,"]+))')
COMPUTED = "(computed)"  # a path or name that is no text in the source


@dataclass(frozen=True)
class Route:
    path: str      # behind the name of the service; at level 3 behind the methods
    callback: str
    place: str     # file:line of the call
    inputs: str = ""  # the name of the table that describes them


@dataclass
class Call:
    name: str
    arguments: list
    variable: str  # what the result is assigned to
    place: str
    function: str  # in which it is made

    def text(self, at):
        found = TEXT.fullmatch(self.arguments[at]) if at < len(self.arguments) else None
        return found[1] if found else COMPUTED

    def word(self, at):
        """A name, as it is or in quotes."""
        return self.arguments[at].strip('"') if at < len(self.arguments) else COMPUTED


def without_comments(source):
    """Lines stay where they are."""
    return TEXT_OR_COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else "\n" * found[0].count("\n"), source)


def calls_in(file, shown):
    source = without_comments(file.read_text(errors="replace"))
    for match in CALL.finditer(source):
        variable, name, arguments = match.groups()
        line = source.count("\n", 0, match.start(2)) + 1
        around = [found[1] for found in FUNCTION.finditer(source, 0, match.start())]
        yield Call(name, [word[0].strip() for word in ARGUMENT.finditer(arguments)], variable, f"{shown}:{line}",
                   around[-1] if around else "")


def methods_of(calls):
    """The routes of interfaces: /INTERFACE/METHOD/PARAMETERS."""
    interfaces = {call.variable: call.text(0) for call in calls if call.name == "interface_new"}
    methods = {call.variable: call for call in calls if call.name in ("method_new", "method_builtin_new")}
    for call in calls:
        if call.name == "interface_add_method" and len(call.arguments) == 2 and call.arguments[0] in methods:
            method = methods[call.arguments[0]]
            count = method.word(2)
            parameters = "".join(f"/:{n + 1}" for n in range(int(count))) if count.isdigit() and int(count) <= 8 else "/" + COMPUTED
            yield Route(f"/{interfaces.get(call.arguments[1], COMPUTED)}/{method.text(0)}{parameters}", method.word(1), method.place)


def prefixes_of(calls):
    """By function: what groups put before its paths."""
    around = {call.word(1): call for call in calls if call.name == "group"}

    def prefix(function, depth=0):
        if function not in around or depth > len(around):
            return ""
        return prefix(around[function].function, depth + 1) + around[function].text(0)

    return {function: prefix(function) for function in around}


def inputs_in(file):
    """By table of a file: the lines about its inputs."""
    source = without_comments(file.read_text(errors="replace"))
    rows = {name: [{key: text or word.strip() for key, text, word in MEMBER.findall(row[1])} for row in ROW.finditer(body)]
            for name, body in ROWS.findall(source)}
    for name, body in TABLE.findall(source):
        words = [word[0].strip() for word in ARGUMENT.finditer(body)]
        yield name, [line_of(row) for row in rows.get(words[-1], [])]


def line_of(row):
    place, kind = (row.get(key, "").removeprefix("DUDA_IN_").removeprefix("DUDA_").lower() for key in ("in", "type"))
    more = [f"{key} {row[key]}" for key in ("min", "max", "choices", "pattern", "preset") if key in row]
    if place == "path" or row.get("is_required", "0") != "0":
        more.insert(0, "required")
    return f"{place:6}  {row['name']}  {', '.join([kind, *more])}" + (f": {row['about']}" if "about" in row else "")


def routes_of_level_3(calls):
    prefixes = prefixes_of(calls)
    for call in calls:
        if call.name in ("get", "post", "put", "patch", "delete", "del", "route", "describe", "specify"):
            at = 1 if call.name in ("route", "describe", "specify") else 0
            methods = {"del": "DELETE"}.get(call.name, call.name.upper()) if at == 0 else "*" if call.word(0) == "NULL" else call.text(0)
            yield Route(f"{methods} {prefixes.get(call.function, '')}{call.text(at)}", call.word(at + 1), call.place,
                        call.word(3).lstrip("&") if call.name in ("describe", "specify") else "")


def routes_of(calls):
    """In the order in which the server asks them: level 3, the root, methods of interfaces, then the others as they were added."""
    yield from routes_of_level_3(calls)
    yield from (Route("/", call.word(0), call.place) for call in calls if call.name in ("static_root", "root"))
    yield from methods_of(calls)
    for call in calls:
        if call.name in ("static_add", "static_add_ref", "map"):
            yield Route(call.text(0), call.word(1), call.place)
        elif call.name == "dashboard":
            yield Route(call.text(0), "the page of the framework", call.place)


def sources(path):
    files = (file for ending in ("c", "cc", "cpp") for file in pathlib.Path(path).rglob(f"*.{ending}"))
    return sorted(file for file in files if not file.stem.endswith("_test") and not any(part.startswith(".") for part in file.parts))


def calls_of(top):
    return [call for file in sources(top) for call in calls_in(file, file.relative_to(top))]


def document_of(top):
    """The path of the document behind the name of the service; None: it publishes none."""
    calls = calls_of(top)
    prefixes = prefixes_of(calls)
    return next((f"{prefixes.get(call.function, '')}/openapi.json" for call in calls if call.name == "publish"), None)


def show_routes(words):
    """Exit code 0. Raises Misuse and Failure."""
    if len(words) != 1 or words[0].startswith("-"):
        raise Misuse("routes takes one path")
    makefiles(words[0])  # or it is no service
    top = pathlib.Path(words[0])
    inputs = dict(table for file in sources(top) for table in inputs_in(file))
    routes = list(routes_of(calls_of(top)))
    widths = [max((len(text) for text in column), default=0) for column in
              ([route.path for route in routes], [route.callback for route in routes])]
    for route in routes:
        print(f"{route.path:{widths[0]}}  {route.callback:{widths[1]}}  {route.place}")
        for line in inputs.get(route.inputs, []):
            print(f"    {line}")
    return 0
