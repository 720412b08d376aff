# SPDX-License-Identifier: Apache-2.0
"""The shell on the server's own standard input and output."""

import os
import pty
import signal
import subprocess
import time

from harness import process
from harness.client import eventually
from harness.shell import configured, read_until, refused


class Program:
    """A server whose standard input and output are ours."""

    def __init__(self, tmp_path, stdin, stdout):
        config = process.Config(tmp_path)
        config.write(**configured(None, "Listen STDIN"))
        self.log = tmp_path / "stderr"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen([process.binary(), "--configdir", str(config.folder)], stdin=stdin,
                                            stdout=stdout, stderr=log, env=process.environment(),
                                            start_new_session=True)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(30) == 0, self.log.read_text()


def test_shell_on_a_terminal(tmp_path):
    ours, theirs = pty.openpty()
    program = Program(tmp_path, theirs, theirs)
    read_until(ours, b"monkey> ")
    os.write(ours, b"loglevel\n")
    assert "level: info\r\n" in read_until(ours, b"info\r\nmonkey> ")
    assert os.get_blocking(theirs), "the terminal of others has changed"
    os.write(ours, b"metrics\n")
    assert "monkey_build_info" in read_until(ours, b"monkey> ")
    os.write(ours, b"quit\n")
    read_until(ours, b"the server continues\r\n")
    assert program.process.poll() is None
    program.stop()
    os.close(ours)
    os.close(theirs)


def test_shell_on_a_pipe(tmp_path):
    program = Program(tmp_path, subprocess.PIPE, subprocess.PIPE)
    out = program.process.stdout.fileno()
    program.process.stdin.write(b"loglevel\nconnections --json\nwhat\n")
    program.process.stdin.flush()
    text = read_until(out, b"help lists them\nmonkey> ")
    assert text.startswith("monkey> level: info\nmonkey> {")
    program.process.stdin.close()
    time.sleep(0.1)
    assert program.process.poll() is None
    program.stop()
    program.process.stdout.close()


def test_shell_writes_into_a_file(tmp_path):
    with open(tmp_path / "out", "ab") as out:
        program = Program(tmp_path, subprocess.PIPE, out)
    program.process.stdin.write(b"loglevel\n")
    program.process.stdin.close()
    assert eventually(lambda: "level: info" in (tmp_path / "out").read_text())
    program.stop()


def test_input_that_cannot_be_waited_for_is_refused(start, tmp_path):
    assert "Listen STDIN needs a terminal or a pipe" in refused(start, **configured(None, "Listen STDIN"))


def test_reload_keeps_the_terminal(tmp_path):
    program = Program(tmp_path, subprocess.PIPE, subprocess.PIPE)
    out = program.process.stdout.fileno()
    read_until(out, b"monkey> ")
    program.process.stdin.write(b"reload\n")
    program.process.stdin.flush()
    read_until(out, b"monkey> ")
    assert eventually(lambda: "reloaded" in program.log.read_text())
    program.process.stdin.write(b"loglevel\n")
    program.process.stdin.flush()
    read_until(out, b"level: info\nmonkey> ")
    program.process.stdin.close()
    program.stop()
    program.process.stdout.close()
