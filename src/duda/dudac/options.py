# SPDX-License-Identifier: Apache-2.0
"""The options of 2014, read from left to right."""

import getopt
from dataclasses import dataclass, field

LETTERS = "gsFrRAXJTDhuvSp:w:V:M:"
LEVELS = {"1": 1, "dst-1": 1, "2": 2, "dst-2": 2, "3": 3}
DEFAULT_PORT = 2001

HELP = """\
Usage: dudac [OPTION]... -w PATH
       dudac new PATH [--template cache|chat|hello|login|rest|sse|todo|upload]    make a service to begin with
       dudac run PATH [--release] [OPTION]...    as -w; --release: optimised
       dudac watch PATH [OPTION]...    build and load anew when a file is saved
       dudac test PATH [--asan] [-V LEVEL]    run its tests, *_test.c
       dudac build PATH [-o FILE] [-V LEVEL] [--release]    the file NAME.duda that a server opens
       dudac routes PATH               list its paths, call-backs and their lines
       dudac routes --openapi PATH [-V LEVEL]    the document that it publishes
       dudac package PATH [-V LEVEL] [-p PORT] [--prefix FOLDER] [-o FILE] [--with-data]
                     [-M K=V,...] [--load PLUGIN]    one file for another machine
       dudac doctor                    report what is missing on this machine

  -w PATH       build the service in PATH and run it until Ctrl-C
  -V LEVEL      level of the interface, before -w: 1 (dst-1, the default), 2 (dst-2) or 3
  -p PORT       TCP port of this machine alone; default 2001, 0: any free port
  -S            TLS, with a key pair that is generated when there is none
  -M K=V,...    set keys of the server's configuration; Listen=PORT: for other machines too
  -u            print the server's output
  -F            build everything anew
  -r, -R        remove the cache of builds; -r not where DUDAC_HOME is set
  -g, -s        nothing: the installed server is used
  -A -X -J -T -D  nothing
  -h, -v        print this help, the version
"""


class Misuse(Exception):
    """The words are not understood: help and exit code 2."""


@dataclass
class Options:
    path: str = None
    level: int = None       # None: what the service says itself, else 1
    port: int = DEFAULT_PORT
    is_secure: bool = False
    is_forced: bool = False
    kind: str = "plain"     # makefile.KINDS
    shows_output: bool = False
    does_update: bool = False
    removes: str = None     # "-r" or "-R"
    wants: str = None       # "help" or "version"
    overrides: dict = field(default_factory=dict)
    warnings: list = field(default_factory=list)


def pairs(text, sections=False):
    """'K=V,K2=V2' as a dictionary, with sections=True 'SECTION.K=V' too. A comma belongs to the value where no key follows."""
    found, last = {}, None
    for piece in text.split(","):
        key, sign, value = piece.partition("=")
        if sign and key.strip().replace(".", "", 1 if sections else 0).isalnum():
            last = key.strip()
            found[last] = value.strip()
        elif last:
            found[last] += "," + piece
        else:
            raise Misuse(f"-M takes KEY=VALUE,..., not '{text}'")
    return found


def port_number(text):
    if not (text.isascii() and text.isdigit() and int(text) <= 65535):
        raise Misuse(f"-p takes a number of 0 to 65535, not '{text}'")
    return int(text)


def level_number(text):
    if text not in LEVELS:
        raise Misuse(f"-V takes 1, 2 or 3, not '{text}'")
    return LEVELS[text]


def _take(options, name, value):
    flags = {"-S": "is_secure", "-F": "is_forced", "-u": "shows_output", "-g": "does_update", "-s": "does_update"}
    if name in flags:
        setattr(options, flags[name], True)
    elif name == "--release":
        options.kind = "release"
    elif name in ("-h", "-v"):
        options.wants = options.wants or {"-h": "help", "-v": "version"}[name]
    elif name in ("-r", "-R"):
        options.removes = name
    elif name == "-p":
        options.port = port_number(value)
    elif name == "-M":
        options.overrides.update(pairs(value))
    elif name == "-w":
        options.path = value
    elif name == "-V":
        level = level_number(value)
        if options.path is None:
            options.level = level
        else:
            options.warnings.append(f"-V {value} comes after -w and has no effect")


def parse(words):
    """Options of a command line. Raises Misuse. Words that belong to no option are named in the warnings."""
    try:
        found, rest = getopt.gnu_getopt(words, LETTERS, ["release"])
    except getopt.GetoptError as error:
        raise Misuse(str(error)) from None
    if not found:
        raise Misuse("no option is given")
    options = Options()
    for name, value in found:
        _take(options, name, value)
    options.warnings += [f"'{word}' belongs to no option" for word in rest]
    return options
