#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
gzip on the fly beside nginx: bench/compress.py [BUILD]

One worker each, the same level, the same page of 68 KB, in turns. Prints the CPU time of each server for a byte of the page, that of
Monkey's other codings, and the private memory of an answer whose reader takes nothing. The last needs small buffers in the
kernel, or the servers compress megabytes before they wait:

    unshare --net sh -c 'ip link set lo up; echo "4096 8192 16384" >/proc/sys/net/ipv4/tcp_wmem; bench/compress.py'
"""

import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

TREE = pathlib.Path(__file__).resolve().parent.parent
LEVEL, PAGE, ROUNDS, SECONDS, STREAMS = 5, 68 * 1024, 7, 2, 200

NGINX = """worker_processes 1; daemon off; pid {dir}/pid; error_log {dir}/log; worker_rlimit_nofile 4096;
events {{ worker_connections 2048; }}
http {{ access_log off; sendfile on; keepalive_requests 1000000000; types {{ text/html html; }} client_body_temp_path {dir}; proxy_temp_path {dir}; fastcgi_temp_path {dir};
uwsgi_temp_path {dir}; scgi_temp_path {dir}; gzip on; gzip_comp_level {level}; gzip_http_version 1.0;
server {{ listen 127.0.0.1:{port}; root {dir}/root; }} }}
"""
SERVER = """[SERVER]
    Listen 127.0.0.1:{port}
    Workers 1
    User root
    MaxKeepAliveRequest 1000000000
    WriteTimeout 1h
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def words():
    """Text as people write it."""
    files = sorted([*(TREE / "docs").glob("*.md"), *(TREE / "docs" / "man").glob("*.?")])
    return "\n".join(f"<h1>{file.name}</h1>\n<p>{file.read_text()}" for file in files).encode()


def write(folder):
    root, text = folder / "root", words()
    root.mkdir()
    (root / "page.html").write_bytes(text[:PAGE])
    (root / "large.html").write_bytes(text * (1 + (16 << 20) // len(text)))


def start_nginx(folder):
    port = free_port()
    (folder / "nginx.conf").write_text(NGINX.format(dir=folder, port=port, level=LEVEL))
    return subprocess.Popen([shutil.which("nginx") or "/usr/sbin/nginx", "-e", f"{folder}/log", "-c", f"{folder}/nginx.conf"]), port


def start_monkey(folder, build):
    port, conf = free_port(), folder / "conf"
    for name, text in {
            "monkey.conf": SERVER.format(port=port), "monkey.mime": "[MIMETYPES]\n    html text/html\n",
            "plugins.load": f"[PLUGINS]\n    Load {build}/plugins/monkey-compress.so\n",
            "plugins/compress/compress.conf": f"[COMPRESS]\n    Level {LEVEL}\n    BusyLevel {LEVEL}\n    Memory 1G\n",
            "sites/default": f"[HOST]\n    DocumentRoot {folder}/root\n"}.items():
        (conf / name).parent.mkdir(parents=True, exist_ok=True)
        (conf / name).write_text(text)
    return subprocess.Popen([f"{build}/monkey", "-c", str(conf)], stderr=subprocess.DEVNULL), port


def family(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def cpu_ns(pid):
    return sum(int(task.read_text().split()[0]) for one in family(pid) for task in pathlib.Path(f"/proc/{one}/task").glob("*/schedstat"))


def private_kb(pid):
    return sum(int(line.split()[1]) for one in family(pid) for line in pathlib.Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
               if line.startswith("Private_Dirty"))


def load(port, coding):
    """@return answers within some seconds"""
    command = ["wrk", "-t1", "-c8", f"-d{SECONDS}s", *(["-H", f"Accept-Encoding: {coding}"] if coding else []), f"http://127.0.0.1:{port}/page.html"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return int(out.split(" requests in ")[0].split()[-1])


def ns_a_byte(process, port, coding):
    before = cpu_ns(process.pid)
    answers = load(port, coding)
    return (cpu_ns(process.pid) - before) / answers / PAGE


def kb_a_stream(process, port, coding):
    """Of so many that wait for readers that take nothing."""
    before, readers = private_kb(process.pid), []
    for _ in range(STREAMS):
        reader = socket.socket()
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect(("127.0.0.1", port))
        reader.sendall(f"GET /large.html HTTP/1.1\r\nHost: a\r\nAccept-Encoding: {coding}\r\n\r\n".encode())
        readers.append(reader)
    time.sleep(4)
    used = private_kb(process.pid) - before
    for reader in readers:
        reader.close()
    return used / STREAMS


def packed_size(port, coding):
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(f"GET /page.html HTTP/1.1\r\nHost: a\r\nAccept-Encoding: {coding}\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        while piece := client.recv(65536):
            answer += piece
    assert f"Content-Encoding: {coding}\r\n".encode() in answer
    return len(answer)


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else TREE / "build").resolve()
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        folder = pathlib.Path(name)
        write(folder)
        servers = {"nginx": start_nginx(folder), "monkey": start_monkey(folder, build)}
        time.sleep(1)
        try:
            rounds = {what: [] for what in servers}
            plain = {what: [] for what in servers}
            for _ in range(ROUNDS):
                for what, (process, port) in servers.items():
                    rounds[what].append(ns_a_byte(process, port, "gzip"))
                    plain[what].append(ns_a_byte(process, port, ""))
            for what in servers:
                print(f"{what:8} {statistics.median(rounds[what]):6.2f} ns a byte (uncompressed {statistics.median(plain[what]):.3f}), "
                      f"page of {PAGE} bytes with its head: {packed_size(servers[what][1], 'gzip')} bytes")
            ratios = sorted(m / n for m, n in zip(rounds["monkey"], rounds["nginx"]))
            print(f"CPU a byte, monkey / nginx: median {statistics.median(ratios):.3f}, {ratios[0]:.3f} to {ratios[-1]:.3f}")
            kb = {what: kb_a_stream(*server, "gzip") for what, server in servers.items()}
            print(", ".join(f"{what} {value:.0f} KB a stream" for what, value in kb.items()), f"ratio {kb['monkey'] / kb['nginx']:.2f}")
            for coding in ("br", "zstd"):
                process, port = servers["monkey"]
                ns = statistics.median(ns_a_byte(process, port, coding) for _ in range(ROUNDS))
                print(f"monkey   {ns:6.2f} ns a byte by {coding}, {packed_size(port, coding)} bytes, {kb_a_stream(process, port, coding):.0f} KB a stream")
        finally:
            for process, _ in servers.values():
                process.send_signal(signal.SIGTERM)
                process.wait(20)


main()
