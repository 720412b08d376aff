# SPDX-License-Identifier: Apache-2.0
"""`dudac package`: a service with its folders, a configuration and a unit of systemd, in one file."""

import getopt
import io
import os
import pathlib
import tarfile
from dataclasses import dataclass, field

from .building import Builder
from .failure import Failure
from .options import DEFAULT_PORT, Misuse, level_number, pairs, port_number
from .places import Cache
from .run_folder import section, web_services

UNIT = """\
[Unit]
Description=Web service {name}
After=network-online.target
Wants=network-online.target

[Service]
User=monkey
ExecStart={server} --configdir {prefix}/server
ExecReload=/bin/kill -HUP $MAINPID
KillMode=mixed
Restart=on-failure
NoNewPrivileges=yes
ProtectSystem=strict
ReadWritePaths={writable}
ProtectHome=yes
PrivateTmp=yes

[Install]
WantedBy=multi-user.target
"""

AFTERWARDS = """\
{file} is ready. On the machine that serves it, with Monkey installed as here:

    {unpack}
    chown -R monkey {owned}
    systemctl enable --now {prefix}/{name}.service
"""

WRITABLE = ("data", "logs")  # what is there already belongs to the machine that serves
FOR_OTHERS = 0o004


class Package:
    """What is in the file: paths below the folder of the service, in the order in which they were added."""

    def __init__(self, file, name):
        self.name = name
        self.private = set()  # folders with something that not everybody may read
        self._tar = tarfile.open(file, "w:gz", format=tarfile.PAX_FORMAT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._tar.close()

    def _entry(self, path, mode, size=0, kind=tarfile.REGTYPE):
        entry = tarfile.TarInfo(f"{self.name}/{path}")
        entry.mode, entry.size, entry.type = mode, size, kind
        entry.mtime = int(os.environ.get("SOURCE_DATE_EPOCH") or 0)  # the same service is the same file
        return entry

    def add_text(self, path, text):
        data = text.encode()
        self._tar.addfile(self._entry(path, 0o644, len(data)), io.BytesIO(data))

    def _note_mode(self, path, facts):
        """@return the mode of a file or folder, without those by which a program gets other rights"""
        if not facts.st_mode & FOR_OTHERS:
            self.private.add(path.split("/", maxsplit=1)[0])
        return facts.st_mode & 0o777

    def add_folder(self, path, folder=None):
        """Empty; with the mode of a folder."""
        mode = self._note_mode(path, folder.stat()) if folder else 0o755
        self._tar.addfile(self._entry(path, mode, kind=tarfile.DIRTYPE))

    def add_file(self, path, file, mode=None):
        with open(file, "rb") as source:
            facts = os.fstat(source.fileno())
            self._tar.addfile(self._entry(path, mode or self._note_mode(path, facts), facts.st_size), source)

    def add_tree(self, path, folder):
        """A folder with its files; what is no file, such as a link, is left out."""
        self.add_folder(path, folder)
        for entry in sorted(folder.iterdir()):
            if entry.is_symlink():
                continue
            if entry.is_dir():
                self.add_tree(f"{path}/{entry.name}", entry)
            elif entry.is_file():
                self.add_file(f"{path}/{entry.name}", entry)


@dataclass
class Wish:
    """The words of the command."""

    path: pathlib.Path
    level: int = None
    port: int = DEFAULT_PORT
    prefix: pathlib.PurePosixPath = None  # None: named after the service
    file: pathlib.Path = None             # None: named after the prefix
    with_data: bool = False
    keys: list = field(default_factory=list)     # (section, key, value)
    plugins: list = field(default_factory=list)  # names

    def name_after(self, services):
        """Where nothing was said: one service gives its name, several that of their folder. Raises Failure."""
        name = services[0].name if len(services) == 1 else self.path.name
        self.prefix = self.prefix or pathlib.PurePosixPath(f"/srv/{name}")
        self.file = self.file or pathlib.Path(f"{self.prefix.name}.tar.gz")
        if any(c.isspace() or c == "%" for c in str(self.prefix)):
            raise Failure(f"{self.prefix} has a blank or %; choose another folder with --prefix")


def keys_of(text):
    """KEY=VALUE,... of [SERVER], or of [DUDA] as DUDA.KEY. Raises Misuse."""
    found = []
    for key, value in pairs(text, sections=True).items():
        name, dot, rest = key.partition(".")
        if key.lower() == "port":
            raise Misuse("-p takes the port, and Listen of -M the address with it, not 'Port'")
        if dot and name.upper() != "DUDA":
            raise Misuse(f"-M takes keys of [SERVER], or of [DUDA] as DUDA.KEY, not '{key}'")
        found.append(("DUDA", rest, value) if dot else ("SERVER", key, value))
    return found


def parse(words):
    """@return a Wish. Raises Misuse."""
    try:
        found, rest = getopt.gnu_getopt(words, "V:p:o:M:", ["prefix=", "with-data", "load="])
    except getopt.GetoptError as error:
        raise Misuse(str(error)) from None
    if len(rest) != 1:
        raise Misuse("package takes one path")
    wish = Wish(pathlib.Path(rest[0]).absolute())
    for option, value in found:
        if option == "-V":
            wish.level = level_number(value)
        elif option == "-p":
            wish.port = port_number(value)
        elif option == "-o":
            wish.file = pathlib.Path(value)
        elif option == "-M":
            wish.keys += keys_of(value)
        elif option == "--load":
            wish.plugins.append(value)
        elif option == "--with-data":
            wish.with_data = True
        else:
            wish.prefix = pathlib.PurePosixPath(value)
    if wish.prefix and (not wish.prefix.is_absolute() or any(c.isspace() or c == "%" for c in str(wish.prefix))):
        raise Misuse(f"--prefix takes an absolute path without blanks and %, not '{wish.prefix}'")
    return wish


def with_keys(lines, keys, of):
    """Lines of a section, those that were wished in place of its own."""
    wished = [(key, value) for name, key, value in keys if name == of]
    named = {key.lower() for key, _ in wished}
    return [line for line in lines if line[0].lower() not in named] + wished


def configuration(places, services, wish):
    """Path -> text of the server's files. Raises Failure."""
    prefix = wish.prefix
    folders = {service.name: {key: prefix / folder.name for key, folder in service.folders().items()} for service in services}
    objects = [places.plugins / f"monkey-{name}.so" for name in ["duda", *wish.plugins]]
    missing = [str(file) for file in objects if not file.is_file()]
    if missing:
        raise Failure(f"there is no plugin {missing[0]}")
    return {
        "server/monkey.conf": section("SERVER", with_keys([("Listen", wish.port)], wish.keys, "SERVER")),
        "server/sites/default": section("HOST", [("DocumentRoot", prefix / "empty")]) + web_services(folders),
        "server/plugins.load": section("PLUGINS", [("Load", file) for file in objects]),
        "server/plugins/duda/duda.conf": section("DUDA", with_keys([("ServicesRoot", prefix / "services"),
                                                                    ("PackagesRoot", places.packages)], wish.keys, "DUDA")),
    }


def commands_to_unpack(base, prefix, written):
    """Folders that the service writes to keep what is there, and their modes."""
    kept = [f"{prefix.name}/{name}" for name in written]
    leaving = "".join(f" --exclude={name}" for name in kept)
    commands = [f"tar -C {prefix.parent} --no-overwrite-dir{leaving} -xf {base}"]
    if kept:
        commands.append(f"tar -C {prefix.parent} --skip-old-files -xf {base} {' '.join(kept)}")
    return "\n    ".join(commands)


def fill(package, places, services, wish, texts):
    """@return the names of folders that the service writes to"""
    package.add_folder("")
    package.add_folder("empty")
    for service in services:
        package.add_file(f"services/{service.name}.duda", service.file, 0o755)
    folders = {folder.name: folder for service in services for folder in service.folders().values()}
    for name, folder in sorted(folders.items()):
        if name in WRITABLE and not wish.with_data:
            package.add_folder(name, folder)
        else:
            package.add_tree(name, folder)
    prefix = wish.prefix
    for path, text in texts.items():
        package.add_text(path, text)
    if places.mimes.is_file():
        package.add_file("server/monkey.mime", places.mimes, 0o644)
    written = [name for name in WRITABLE if name in folders]
    writable = " ".join(str(prefix / name) for name in written)
    unit = UNIT.format(name=prefix.name, server=places.server, prefix=prefix, writable=writable)
    package.add_text(f"{prefix.name}.service", unit if writable else unit.replace("ReadWritePaths=\n", ""))
    return written


def package_service(places, words):
    """Exit code 0. Raises Misuse and Failure."""
    wish = parse(words)
    with Cache() as cache:
        services = Builder(places, cache, wish.path, wish.level, "release").build()
        homes = {service.folder for service in services if service.folders()}
        if len(homes) > 1:
            raise Failure("the services have folders of their own; package each by itself")
        wish.name_after(services)
        prefix, file = wish.prefix, wish.file
        texts = configuration(places, services, wish)
        try:
            with Package(file, prefix.name) as package:
                written = fill(package, places, services, wish, texts)
        except OSError as error:
            raise Failure(f"{error.filename or file}: {error.strerror}") from None
    owned = " ".join(str(prefix / name) for name in sorted({*written, *package.private}))
    text = AFTERWARDS.format(file=file, unpack=commands_to_unpack(file.name, prefix, written), prefix=prefix, name=prefix.name,
                             owned=owned)
    print(text if owned else text.replace("    chown -R monkey \n", ""), end="")
    return 0
