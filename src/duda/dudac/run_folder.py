# SPDX-License-Identifier: Apache-2.0
"""The configuration of one run, in a private folder that is removed with it."""

import ctypes
import filecmp
import os
import pathlib
import shutil
import tempfile

LOOPBACK = "127.0.0.1"  # the errors of a service that is being written are for nobody else
NOT_OF_THE_SERVER = ("Port", "Listen", "UserDir")  # of an address, or of a site


def section(name, lines):
    return "".join([f"[{name}]\n", *(f"    {key} {value}\n" for key, value in lines)]) + "\n"


def server_lines(port, overrides, is_secure, is_watched=False):
    """Of [SERVER], with the keys of -M as they were meant in 2014."""
    chosen = {key.lower(): value for key, value in overrides.items()}
    port = chosen.pop("port", None) or str(port)
    address = chosen.pop("listen", None) or (f"{LOOPBACK}:{port}" if port.isdigit() else port)
    chosen.pop("userdir", None)
    if chosen.get("maxrequestsize", "").isdigit():
        chosen["maxrequestsize"] += "K"  # it was a number of KB
    lines = {"listen": ("Listen", f"{address} tls" if is_secure else address), "coredumps": ("CoreDumps", "on")}
    if os.geteuid() == 0:
        lines["user"] = ("User", "root")
    if is_watched:
        lines.update(fdt=("FDT", "off"), filecache=("FileCache", "0"))
    names = {key.lower(): key for key in overrides}
    lines.update({key: (names[key], value) for key, value in chosen.items()})
    return list(lines.values())


def site_lines(folder, overrides):
    user_dir = [value for key, value in overrides.items() if key.lower() == "userdir"]
    return [("DocumentRoot", folder / "empty"), *(("UserDir", value) for value in user_dir)]


def web_services(folders):
    """The sections of services: name -> its keys of folders."""
    return "".join(section("WEB_SERVICE", [("Name", name), ("Enabled", "on"), *keys.items()]) for name, keys in folders.items())


def has_session_files(places):
    """Can the server open the library that keeps sessions in a file?"""
    try:
        return not places.is_32_bit() and bool(ctypes.CDLL("libsqlite3.so.0"))
    except OSError:
        return False


class RunFolder:
    """
    with RunFolder() as run:
        run.write(places, services, ...)

    is_watched: sessions are kept until its end, over restarts of the server, and each file is served as it is just then.
    """

    def __init__(self, is_watched=False):
        self.is_watched = is_watched

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="dudac-"))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    @property
    def configuration(self):
        return self.path / "conf"

    @property
    def pages(self):
        """The DocumentRoot of the site: empty but for the page of `dudac watch`."""
        return self.path / "empty"

    def write(self, places, services, port, overrides=None, certificate=None):
        """Write all files of a configuration; certificate: (file, key), for TLS. Services are copied: a build disturbs none."""
        overrides = overrides or {}
        self.pages.mkdir(exist_ok=True)
        self._copy(services)
        self._write("monkey.conf", section("SERVER", server_lines(port, overrides, certificate is not None, self.is_watched)))
        self._write("sites/default", section("HOST", site_lines(self.path, overrides)) +
                    web_services({service.name: service.folders() for service in services}))
        plugins = ["duda"] + (["tls"] if certificate else [])
        self._write("plugins.load", section("PLUGINS", [("Load", places.plugins / f"monkey-{name}.so") for name in plugins]))
        self._write("plugins/duda/duda.conf", section("DUDA", self._duda_lines(places)))
        if certificate:
            self._write("plugins/tls/tls.conf", section("TLS", zip(("CertificateFile", "KeyFile"), certificate)))
        if places.mimes.is_file():
            shutil.copyfile(places.mimes, self.configuration / "monkey.mime")

    def _duda_lines(self, places):
        lines = [("ServicesRoot", self.path / "services"), ("CrashReport", "on"), ("CheckAnswers", "on")]
        if places.packages.is_dir():
            lines.append(("PackagesRoot", places.packages))
        if self.is_watched and has_session_files(places):
            lines.append(("SessionStore", f"sqlite:{self.path / 'sessions'}"))
        return lines

    def _copy(self, services):
        """A service that did not change keeps its file, so a reload keeps it; where none did, a file that they read did."""
        folder = self.path / "services"
        folder.mkdir(exist_ok=True)
        files = {folder / f"{service.name}.duda": service.file for service in services}
        changed = {file: source for file, source in files.items()
                   if not file.exists() or not filecmp.cmp(file, source, shallow=False)}
        for file, source in (changed or files).items():
            fresh = file.with_suffix(".fresh")  # the server has the other one open
            shutil.copyfile(source, fresh)
            fresh.replace(file)
        for file in set(folder.iterdir()) - set(files):
            file.unlink()

    def _write(self, name, text):
        file = self.configuration / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
