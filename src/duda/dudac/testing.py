# SPDX-License-Identifier: Apache-2.0
"""`dudac test`: the tests of a service, each in a process with a server of its own that nobody else can ask."""

import dataclasses
import getopt
import shutil
import signal
import subprocess

from .building import FOLDERS, Builder
from .failure import Failure
from .options import Misuse, level_number
from .places import Cache
from .run_folder import RunFolder
from .running import until_stopped
from .server import end_with_dudac

TEST_WITHIN = 60  # seconds
KEYS = {"Workers": "1"}


def parse(words):
    """path, level and kind of PATH [--asan] [-V LEVEL]. Raises Misuse."""
    try:
        found, rest = getopt.gnu_getopt(words, "V:", ["asan"])
    except getopt.GetoptError as error:
        raise Misuse(str(error)) from None
    if len(rest) != 1:
        raise Misuse("test takes one path")
    options = dict(found)
    return rest[0], level_number(options["-V"]) if "-V" in options else None, "asan" if "--asan" in options else "plain"


def with_copied_folders(service, target):
    """A service whose folders are copies: a test may write to them."""
    for name in FOLDERS:
        if (service.folder / name).is_dir():
            shutil.copytree(service.folder / name, target / name)
    return dataclasses.replace(service, folder=target)


class Tests:
    """The program of the tests and the services that it asks."""

    def __init__(self, places, services, program):
        self.places, self.services, self.program = places, services, program
        self.running = None

    def names(self):
        """FILE:NAME of each."""
        done = subprocess.run([self.program, "list"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TEST_WITHIN,
                              check=False)
        if done.returncode != 0:
            raise Failure(f"the tests do not run\n{done.stdout}{done.stderr}".rstrip())
        return done.stdout.splitlines()

    def run(self, number):
        """(did it pass, what it printed)"""
        with RunFolder() as run:
            services = [with_copied_folders(service, run.path / "copies" / service.name) for service in self.services]
            run.write(self.places, services, "127.0.0.1:0", KEYS)
            self.running = subprocess.Popen([self.program, "run", run.configuration, str(number)], cwd=run.path, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                            process_group=0, preexec_fn=end_with_dudac)
            try:
                text, _ = self.running.communicate(timeout=TEST_WITHIN)
            except subprocess.TimeoutExpired:
                return False, self.end() + f"The test does not end within {TEST_WITHIN} seconds.\n"
            finally:
                self.end()
            code = self.running.returncode
            return code == 0, text + (f"The test ended by {signal.Signals(-code).name}.\n" if code < 0 else "")

    def end(self):
        """The program that runs, if any; what it printed."""
        if self.running.poll() is not None:
            return ""
        self.running.kill()
        return self.running.communicate()[0]


def run_all(tests):
    """Print what fails, and how many; is all well?"""
    names = tests.names()
    failed = 0
    for number, name in enumerate(names):
        is_passed, text = tests.run(number)
        failed += not is_passed
        print(f"{'ok  ' if is_passed else 'FAIL'} {name}", flush=True)
        if not is_passed:
            print("".join(f"     {line}\n" for line in text.splitlines()), end="", flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    return failed == 0 and names


def test_service(places, words):
    """Exit code 0: all tests passed, 1: some failed, there are none, or Ctrl-C. Raises Misuse and Failure."""
    path, level, kind = parse(words)
    for file in (places.testing.headers / "monkey" / "ask.h", places.testing.library):
        if not file.is_file():
            raise Failure(f"tests are built with {file}, which is not installed")
    is_well = False
    with until_stopped(), Cache() as cache:
        builder = Builder(places, cache, path, level, kind)
        services = builder.build()
        is_well = run_all(Tests(places, services, builder.build_tests()))
    return 0 if is_well else 1
