#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
Hold the layers: tools/check_layers.py [TREE]

Reads every #include of the tree and says which break the rules of docs/architecture.md ("Who may
see whom"). Exit code 1 when one does.
"""

import pathlib
import re
import sys

# What each layer may include beside its own folder. PUBLIC is <monkey/...>; TYPES only <monkey/types.h>.
PUBLIC, TYPES, TABLES = "<monkey/...>", "<monkey/types.h>", "<monkey/settings.h>"
FIELD, RESPONSE = "<monkey/field.h>", "<monkey/response.h>"
LAYERS = {
    "base": {TYPES},
    "core": {TYPES, "base"},
    "http": {TYPES, FIELD, RESPONSE, "base"},
    "settings": {TYPES, TABLES, "base"},
    "conf": {TYPES, TABLES, "base", "settings"},
    "setup": {PUBLIC, "base", "core", "http", "settings", "conf"},
    "server": {PUBLIC, "base", "core", "http", "settings", "setup"},
    "upstream": {PUBLIC, "base", "core", "http", "settings", "setup", "server"},
    "protocol": {PUBLIC, "base", "core", "http", "settings", "setup", "server"},
    "lib": {PUBLIC, "base", "core", "http", "settings", "conf", "setup", "server"},
    "web": {PUBLIC, "base", "http", "kit"},
    "websocket": {PUBLIC, "<zlib.h>", "kit"},
}
# Below all of them, the core too: small machines on <monkey/types.h> alone, pure like the protocol.
PURE_KIT = "kit/pure"

# These live on the public headers and on their own folder; for plugins and packages that is one folder each. A plugin
# sees "kit/..." too: what several plugins are made of. So do the executable and clients of other servers, and packages of services see
# these: "data/...".
ON_PUBLIC = ["src/bin", "src/compat", "src/data", "src/kit/*", "src/plugins/*", "src/duda", "tools", "examples", "python"]

# Rooms of a large folder from the lowest to the highest: the files of one include only its own and those of rooms that
# stand before it. Files beside the rooms come last and see all of them. Unit tests of a room see what it sees, and what
# drives them, which lies beside the rooms of tests.
ROOMS = {
    "src/server": ["link", "files", "worker", "request", "answer", "route", "backend", "carried", "memory", "h1", "events", "run", "explain"],
    "src/plugins/cgi": ["palm", "entry", "yard", "run"],
    "src/plugins/fastcgi": ["entry", "backends", "exchange"],
    "src/plugins/proxy_reverse": ["entry", "links", "backends", "statistics", "exchange"],
    "src/data": ["crew", "remote", "redis", "sql", "postgresql", "sqlite"],
    "src/duda": ["json", "views", "inputs", "remote", "packages", "service", "package", "objects", "host"],
    "src/duda/objects": ["plain", "logs", "store", "answer", "request", "events", "session", "guards", "routes", "client", "2012"],
}

# Folders beside rooms: what services include, and a program in Python.
BESIDE_ROOMS = {"src/duda": {"headers", "dudac"}}

# Nothing but libc below the plugins (and the sanitizers' own header, to poison freed memory).
LIBC = set("""
    aio alloca assert ctype dirent dlfcn endian errno fcntl features fnmatch ftw getopt glob grp inttypes
    libgen limits link locale malloc math mntent netdb poll pthread pwd regex sched search semaphore setjmp signal
    spawn stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string strings sysexits
    syslog termios threads time ucontext unistd utime wchar wctype wordexp
    immintrin emmintrin nmmintrin tmmintrin smmintrin arm_neon
""".split())
LIBC_FOLDERS = {"arpa", "asm", "linux", "net", "netinet", "sanitizer", "sys"}

# The protocol and the settings take bytes and give bytes: no descriptors, threads or clocks.
PURE = {"base", "http", "settings"}
IMPURE = {"fcntl.h", "poll.h", "pthread.h", "signal.h", "sys/epoll.h", "sys/eventfd.h", "sys/sendfile.h",
          "sys/socket.h", "sys/stat.h", "sys/uio.h"}

# Between a request and the protocol that carries it stands server/request/wire.h: outside the room of HTTP/1 nobody reaches a
# connection's buffers, calls its steps or writes its lines. What http/ declares by the same prefix is pure.
H1_ROOM = "src/server/h1"
H1_ONLY = re.compile(r'conn->job\b|\bmk_h1_\w+|"HTTP/1\.')
H1_NAME = re.compile(r"\bmk_h1_\w+")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:<([^>]+)>|"([^"]+)")', re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def without_comments(text):
    """The same lines, so that line numbers stay."""
    return COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)


def includes(path):
    """(line, name, is_system) of each #include of a file."""
    text = without_comments(path.read_text())
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[1] or match[2], match[1] is not None


def inside(name, folder):
    """What an #include names within a folder with rooms: names are written from src/, in plugins and in duda from there."""
    for above in (folder.removeprefix("src/"), folder.removeprefix("src/duda/")):
        name = name.removeprefix(f"{above}/")
    return name


def is_libc(name):
    folder, _, rest = name.partition("/")
    return folder in LIBC_FOLDERS if rest else name.endswith(".h") and name[:-2] in LIBC


class Checker:
    def __init__(self, tree):
        self.tree = tree
        self.src = tree / "src"
        self.faults = []

    def fault(self, path, line, sentence):
        self.faults.append(f"{path.relative_to(self.tree)}:{line}: {sentence}")

    def sources(self, folder):
        return sorted(p for p in (self.tree / folder).rglob("*") if p.suffix in (".c", ".h") and p.is_file())

    # -- layers

    def check_layer(self, layer, allowed):
        for path in self.sources(f"src/{layer}"):
            for line, name, is_system in includes(path):
                if is_system:
                    self.check_system(path, line, name, layer, allowed)
                else:
                    self.check_own(path, line, name, layer, allowed)
            self.check_own_header_first(path)
            self.check_umbrella(path)

    def check_system(self, path, line, name, layer, allowed):
        if name == "monkey/types.h":
            return
        if name.startswith("monkey/"):
            if PUBLIC not in allowed and f"<{name}>" not in allowed:
                self.fault(path, line, f"{layer} sees {TYPES} of the public headers, not <{name}>")
        elif not is_libc(name) and f"<{name}>" not in allowed:
            self.fault(path, line, f"<{name}> is not of libc; a library belongs to one plugin")
        elif layer in PURE and name in IMPURE:
            self.fault(path, line, f"{layer} is pure: no descriptors, threads or clocks, so no <{name}>")

    def check_own(self, path, line, name, layer, allowed):
        folder = name.partition("/")[0]
        if name.startswith("monkey/"):
            self.fault(path, line, f'write <{name}>: the public headers are not of a folder of src/')
        elif "/" not in name or folder.startswith("."):
            self.fault(path, line, f'write "{name}" from src/, as in "{layer}/{pathlib.PurePath(name).name}"')
        elif folder != layer and folder not in allowed and not name.startswith(f"{PURE_KIT}/"):
            sees = ", ".join(sorted(allowed))
            self.fault(path, line, f'{layer} may not see {folder} ("{name}"); it sees {sees}')
        elif folder != layer and name.endswith("_int.h"):
            self.fault(path, line, f'"{name}" is for the files of src/{folder} only')
        elif not (self.src / name).is_file():
            self.fault(path, line, f'"{name}" does not exist')

    def check_own_header_first(self, path):
        if path.suffix != ".c":
            return
        stem = path.relative_to(self.src).with_suffix("")
        own = [f"{stem}{end}" for end in (".h", "_int.h") if (self.src / f"{stem}{end}").is_file()]
        first = next(includes(path), None)
        if own and (first is None or first[1] not in own):
            self.fault(path, first[0] if first else 1, f'its own header "{own[0]}" comes first')

    def check_umbrella(self, path):
        """A header that only includes others hides who needs what."""
        if path.suffix != ".h":
            return
        lines = [line.strip() for line in without_comments(path.read_text()).splitlines()]
        if sum(line.startswith("#include") for line in lines) > 1 and all(
                not line or line.startswith("#") for line in lines):
            self.fault(path, 1, "is an umbrella: it only includes other headers")

    # -- all that lives on the public headers

    def check_on_public(self, folder):
        home = self.tree / folder
        sees_kit = home in (self.src / "bin", self.src / "data", self.src / "duda") or home.parent in (self.src / "plugins", self.src / "kit")
        clients = ("data/",) if home in (self.src / "data", self.src / "duda") else ()
        is_pure = home == self.src / PURE_KIT
        for path in self.sources(folder):
            for line, name, is_system in includes(path):
                if is_pure:
                    self.check_pure(path, line, name)
                if is_system:
                    continue
                places = [path.parent / name, home / name, home / "headers" / name, self.src / name]
                sees = ("kit/" if sees_kit else f"{PURE_KIT}/", *clients)
                is_of_kit = self.src in home.parents and name.startswith(sees) and (self.src / name).is_file()
                # A service sees what dudac shows it.
                is_of_duda = folder == "examples" and "duda" in path.relative_to(home).parts and (self.src / "duda/headers" / name).is_file()
                if not is_of_kit and not is_of_duda and not any(place.is_file() and home in place.resolve().parents for place in places):
                    self.fault(path, line, f'"{name}" is not in {folder}, which lives on {PUBLIC} and its own files')

    def check_pure(self, path, line, name):
        if name in IMPURE or (name.startswith("monkey/") and name != "monkey/types.h"):
            self.fault(path, line, f"{PURE_KIT} is pure and lies below all layers: {TYPES} and libc, no descriptors, threads or clocks, "
                                   f"so no <{name}>")
        elif name.startswith("kit/") and not name.startswith(f"{PURE_KIT}/"):
            self.fault(path, line, f'{PURE_KIT} lies below the rest of the kit and may not see "{name}"')

    # -- rooms of a folder

    def check_rooms(self, folder, order):
        home = self.tree / folder
        beside = BESIDE_ROOMS.get(folder, set())
        for stranger in sorted({p.name for p in home.iterdir() if p.is_dir()} - set(order) - beside):
            self.faults.append(f"{folder}/{stranger}: is no room; tools/check_layers.py has their order")
        for path in self.sources(folder):
            room = path.relative_to(home).parts[0] if path.parent != home else None
            if room in beside:
                continue
            for line, name, is_system in includes(path):
                if not is_system:
                    self.check_room(path, line, inside(name, folder), room, order)

    def check_tests_of_rooms(self, folder, order):
        for room in order:
            for path in self.sources(f"tests/unit/{folder.removeprefix('src/')}/{room}"):
                for line, name, is_system in includes(path):
                    other = inside(name, folder).partition("/")[0]
                    if not is_system and other in order and order.index(other) > order.index(room):
                        self.fault(path, line, f'a test of the room {room} may not see {other} ("{name}")')

    def check_room(self, path, line, name, room, order):
        other = name.partition("/")[0]
        if (self.src / "duda/headers" / name).is_file():
            return
        if (path.parent / name).is_file() and path.parent.name == room:
            self.fault(path, line, f'write "{room}/{name}": the room belongs to the name')
        elif other not in order or other == room:
            return
        elif room and order.index(other) > order.index(room):
            self.fault(path, line, f'the room {room} may not see {other} ("{name}"), which stands above it')
        elif name.endswith("_int.h"):
            self.fault(path, line, f'"{name}" is for the files of its room only')

    # -- the seam between a request and its protocol

    def check_seam(self):
        pure = {name for path in self.sources("src/http") if path.suffix == ".h" for name in H1_NAME.findall(path.read_text())}
        for path in self.sources("src/server"):
            if self.tree / H1_ROOM in path.parents:
                continue
            for number, line in enumerate(without_comments(path.read_text()).splitlines(), 1):
                for found in H1_ONLY.findall(line):
                    if found not in pure:
                        self.fault(path, number, f"{found} is for src/server/h1 only; others use server/request/wire.h")

    def check_public(self):
        for path in self.sources("include"):
            for line, name, is_system in includes(path):
                if not is_system or not (name.startswith("monkey/") or is_libc(name)):
                    self.fault(path, line, f"a public header includes only {PUBLIC} and libc, not {name}")

    # -- unit tests see what their layer sees, and its inside

    def check_unit_tests(self, layer, allowed):
        for path in self.sources(f"tests/unit/{layer}"):
            for line, name, is_system in includes(path):
                folder = name.partition("/")[0]
                if not is_system and folder in LAYERS and folder != layer and folder not in allowed:
                    self.fault(path, line, f'a test of {layer} may not see {folder} ("{name}")')

    def check(self):
        folders = {p.name for p in self.src.iterdir() if p.is_dir()} if self.src.is_dir() else set()
        for stranger in sorted(folders - set(LAYERS) - {"bin", "compat", "data", "kit", "plugins", "duda"}):
            self.faults.append(f"src/{stranger}: is no layer; tools/check_layers.py has the list")
        for layer, allowed in LAYERS.items():
            self.check_layer(layer, allowed)
            self.check_unit_tests(layer, allowed)
        self.check_public()
        self.check_seam()
        for folder, order in ROOMS.items():
            if (self.tree / folder).is_dir():
                self.check_rooms(folder, order)
                self.check_tests_of_rooms(folder, order)
        for pattern in ON_PUBLIC:
            for folder in sorted(p for p in self.tree.glob(pattern) if p.is_dir()):
                self.check_on_public(str(folder.relative_to(self.tree)))
        return self.faults


def main():
    tree = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    faults = Checker(tree).check()
    for fault in faults:
        print(fault)
    if faults:
        print(f"layers: {len(faults)} includes break the rules")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
