# SPDX-License-Identifier: Apache-2.0
"""What answers behind the servers: one pool of php-fpm for all of them in a round, and scripts for CGI."""

import contextlib
import os
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time

import backends
import measure
import servers

CHILDREN = 8

SMALL, SIZED, LARGE, UPLOAD, CGI = "hello.php", "sized.php", "large.php", "upload.php", "cgi-bin/hello"
UPLOAD_SIZE = 10 * 1000 * 1000

SCRIPTS = {
    SMALL: "<?php echo \"Hello, world\\n\";",
    SIZED: "<?php header('Content-Length: 13'); echo \"Hello, world\\n\";",
    LARGE: "<?php $piece = str_repeat('0123456789abcdef', 4096); for ($i = 0; $i < 16; $i++) echo $piece;",
    UPLOAD: "<?php $n = 0; $in = fopen('php://input', 'r'); while (!feof($in)) $n += strlen(fread($in, 65536));"
            "http_response_code($n == (int) $_SERVER['CONTENT_LENGTH'] ? 200 : 500); echo $n;",
}


def make(root):
    """The scripts, in a document root."""
    for name, text in SCRIPTS.items():
        with open(os.path.join(root, name), "w", encoding="ascii") as out:
            out.write(text)
        os.chmod(os.path.join(root, name), 0o644)
    folder = os.path.join(root, os.path.dirname(CGI))
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o755)
    program = shutil.copy(servers.build_tool("hello"), os.path.join(root, CGI))
    os.chmod(program, stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)


def php_fpm():
    """Debian's has its version in the name."""
    return servers.find_program("php-fpm", *(f"php-fpm8.{minor}" for minor in range(9, -1, -1)))


class Pool:
    """php-fpm on a Unix socket, with CHILDREN processes for good; ended by its pid."""

    def __init__(self, cores):
        self._temp = tempfile.TemporaryDirectory(prefix="monkey-bench-php-")
        os.chmod(self._temp.name, 0o755)
        self.socket = os.path.join(self._temp.name, "socket")
        conf = os.path.join(self._temp.name, "php-fpm.conf")
        user = "user = root\ngroup = root\n" if os.geteuid() == 0 else ""
        with open(conf, "w", encoding="ascii") as out:
            out.write(f"[global]\nerror_log = {self._temp.name}/log\ndaemonize = no\n[bench]\nlisten = {self.socket}\n"
                      f"listen.mode = 0666\nlisten.backlog = {servers.BACKLOG}\n{user}"
                      f"pm = static\npm.max_children = {CHILDREN}\n"
                      "php_admin_value[post_max_size] = 100M\n")
        argv = [php_fpm(), "-F", "-y", conf] + (["-R"] if os.geteuid() == 0 else [])
        self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL, start_new_session=True,
                                         preexec_fn=lambda: os.sched_setaffinity(0, cores))
        self._wait()

    def _wait(self):
        for _ in range(500):
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    probe.connect(self.socket)
                    return
                except OSError:
                    time.sleep(0.01)
        self.stop()
        raise RuntimeError("php-fpm does not answer")

    def pids(self):
        return measure.tree(self._process.pid)

    def stop(self):
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._temp.cleanup()


@contextlib.contextmanager
def behind(case, root):
    """What is behind the servers of a case while it is measured; None for one that needs nothing."""
    pool = None
    if case.php:
        pool = Pool(case.client_cores)
    elif case.backends:
        pool = backends.Backends(case.backends, root, case.path, case.size(), case.client_cores)
    try:
        yield pool
    finally:
        if pool:
            pool.stop()
