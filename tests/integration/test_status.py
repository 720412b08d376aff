# SPDX-License-Identifier: Apache-2.0
"""Metrics and health over HTTP."""

import contextlib
import ctypes
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest

from harness import certificates, fastcgi, http, process, prometheus, secured
from harness import plugins as test_plugins
from harness.backend import backends, servers
from harness.cgi import load as load_cgi
from harness.cgi import start_site
from harness.client import Connection, eventually
from harness.config import section
from harness.http2 import Frames

FILES = {"a.txt": "a" * 100}
OPEN = ("application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,"
        "text/plain;version=0.0.4;q=0.3,*/*;q=0.2")
SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)$')


def needs(*plugins):
    missing = [name for name in plugins if not process.plugin(name)]
    return pytest.mark.skipif(bool(missing), reason=f"not built: {missing}")


def configured(lines="", plugins=(), extra=None, **kwargs):
    load = "".join(f"Load {test_plugins.path(name) if name == 'measure' else process.plugin(name)}\n" for name in (*plugins, "status"))
    return {"files": FILES, "extra": {"plugins.load": section("PLUGINS", load),
                                      "plugins/status/status.conf": section("STATUS", lines), **(extra or {})}, **kwargs}


def get(server, target, accept=None, **kwargs):
    return server.get(target, headers=[("Accept", accept)] if accept else None, **kwargs)


def samples(text):
    """Every sample by its name and labels, as they are written."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = SAMPLE.match(line)
        assert match, line
        key = match[1] + ("{" + match[2] + "}" if match[2] else "")
        assert key not in found, key
        found[key] = float(match[3])
    return found


def scrape(server, **kwargs):
    answer = get(server, "/metrics", **kwargs)
    assert answer.status == 200
    return samples(answer.text)


def promtool(text):
    if not shutil.which("promtool"):
        pytest.skip("needs promtool of Prometheus")
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True, timeout=30,
                             check=False)
    return checked.returncode, checked.stdout + checked.stderr


# -- requests


def test_requests_by_site_and_class(start):
    server = start(**configured(sites={"second": "[HOST]\n    ServerName b.example\n    DocumentRoot /tmp\n"}))
    for _ in range(3):
        assert server.get("/a.txt").status == 200
    assert server.get("/none").status == 404
    assert server.get("/a.txt", host="b.example").status == 404
    server.raw(b"GET / HTTP/9.9\r\n\r\n")
    now = scrape(server)
    name = "monkey_site_responses_total"
    assert now[name + '{site="default",status="2xx"}'] == 3
    assert now[name + '{site="default",status="4xx"}'] == 1
    assert now[name + '{site="default",status="5xx"}'] == 1
    assert now[name + '{site="b.example",status="4xx"}'] == 1
    assert now[name + '{site="default",status="none"}'] == 0
    assert now['monkey_site_body_bytes_total{site="default"}'] >= 300


def test_durations_are_a_histogram(start):
    server = start(**configured(server="Workers 1"))
    with server.connect() as slow:
        slow.send(b"GET /a.txt HTTP/1.1\r\n")
        time.sleep(0.6)
        slow.send(b"Host: a\r\n\r\n")
        assert slow.response().status == 200
    assert server.get("/a.txt").status == 200
    now = scrape(server)
    name = "monkey_site_duration_seconds"
    buckets = [(re.search('le="(.*)"', key)[1], value) for key, value in now.items() if key.startswith(name + "_bucket")]
    assert [le for le, _ in buckets] == ["0.001", "0.002", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5",
                                         "5", "10", "30", "60", "+Inf"]
    counts = dict(buckets)
    assert counts["0.5"] == 1 and counts["2.5"] == 2 and counts["+Inf"] == 2 == now[name + '_count{site="default"}']
    assert [value for _, value in buckets] == sorted(value for _, value in buckets)
    assert 0.5 < now[name + '_sum{site="default"}'] < 2.5


@needs("http2")
def test_requests_over_http2_are_counted_and_answered(start):
    server = start(**configured(server="Workers 1\nListen 127.0.0.1:0 h2", plugins=["http2"]))
    with Frames(("127.0.0.1", server.port)) as client:
        client.send(client.head(1, "/a.txt"))
        assert client.answer(1) == (200, b"a" * 100)
        client.send(client.head(3, "/metrics"))
        status, text = client.answer(3)
    assert status == 200 and samples(text.decode())['monkey_site_responses_total{site="default",status="2xx"}'] == 1


def test_workers_count_together(start):
    server = start(**configured(server="Workers 4"))
    for _ in range(40):
        assert server.get("/a.txt").status == 200  # a connection each
    assert scrape(server)['monkey_site_responses_total{site="default",status="2xx"}'] == 40


def test_connections_by_state(start):
    server = start(**configured(server="Workers 2"))
    with server.connect() as idle, server.connect() as begun:
        assert idle.request("/a.txt").status == 200
        begun.send(b"GET /a")
        now = eventually(lambda: (lambda n: n if n.get('monkey_connection_states{state="head"}') else None)(scrape(server)))
        assert now['monkey_connection_states{state="idle"}'] == 1
        assert now["monkey_workers_silent"] == 0


def test_reloads_are_counted_and_counters_go_on(start):
    config = configured()
    server = start(**config)
    assert server.get("/a.txt").status == 200
    server.reload(**config)
    server.reload(expect="reload failed|not reloaded|kept", **{**config, "server": "Workers none"})
    now = scrape(server)
    assert now["monkey_reloads_total"] == 1 and now["monkey_reloads_failed_total"] == 1
    assert now['monkey_site_responses_total{site="default",status="2xx"}'] == 1


def test_sites_of_one_name_are_one(start):
    """The first site has no name here, and is called default."""
    server = start(**configured(sites={"b": "[HOST]\n    ServerName default\n    DocumentRoot /tmp\n"}))
    assert server.get("/none").status == server.get("/none", host="default").status == 404
    assert scrape(server)['monkey_site_responses_total{site="default",status="4xx"}'] == 2


@pytest.mark.limit(120)
def test_very_many_sites_are_counted_as_one(start):
    server = start(**configured(sites={f"s{i}": f"[HOST]\n    ServerName s{i}.example\n    DocumentRoot /tmp\n"
                                       for i in range(1005)}))
    for i in range(1005):
        assert server.get("/none", host=f"s{i}.example").status == 404
    now = scrape(server)
    of = [key for key in now if key.startswith("monkey_site_responses_total") and 'status="4xx"' in key]
    assert len(of) == 1001
    assert now['monkey_site_responses_total{site="other",status="4xx"}'] == 6


# -- where


def test_nothing_answers_without_the_section(start):
    server = start(files=FILES, extra={"plugins.load": section("PLUGINS", f"Load {process.plugin('status')}")})
    assert [server.get(path).status for path in ("/metrics", "/status", "/health/live")] == [404] * 3


def test_paths_are_chosen(start):
    server = start(**configured("Metrics /a/b\nPage off\nHealth /up"))
    assert [server.get(path).status for path in ("/a/b", "/up", "/up/live", "/up/ready")] == [200] * 4
    assert [server.get(path).status for path in ("/metrics", "/status", "/health", "/A/B", "/a/b/", "/up/x")] == [404] * 6


def test_a_site_of_its_own(start):
    server = start(files=FILES, site="", extra={"plugins.load": section("PLUGINS", f"Load {process.plugin('status')}")},
                   sites={"b": "[HOST]\n    ServerName b.example\n    DocumentRoot /tmp\n[STATUS]\n    Metrics /m\n"})
    assert server.get("/m").status == 404
    assert server.get("/m", host="b.example").status == 200
    now = samples(server.get("/m", host="b.example").text)
    assert now['monkey_site_responses_total{site="b.example",status="2xx"}'] == 1
    assert not [key for key in now if 'site="default"' in key]


def test_the_paths_come_before_handlers(start):
    with backends(1) as one:
        server = start(**configured(plugins=["proxy_reverse"], extra={
            "plugins/proxy_reverse/proxy_reverse.conf": section("PROXY_ENTRY", f"Match ^/\n{servers(one)}")}))
        assert "monkey_build_info" in server.get("/metrics").text
        assert server.get("/metricsx").status == 200 and one[0].requests


@pytest.mark.parametrize("lines, why", [
    ("Metrics metrics", "Metrics: expected off or a path such as /status"),
    ("Metrics /metrics*", "Metrics: expected off or a path such as /status"),
    ("Health /", "Health: expected off or a path"),
    ("Page /status/", "Page: expected off or a path"),
    ("Page /" + "x" * 48, "of at most 48 bytes"),
    ("Page /metrics", "/metrics is the path of two"),
    ("Allow 10.0.0.0/33", 'Allow: expected addresses, networks or "unix"'),
    ("HealthAllow here", "HealthAllow: expected addresses"),
    ("ReadyWhen", "ReadyWhen: expected METRIC"),
    ("ReadyWhen >= 1", "ReadyWhen: expected METRIC"),
    ("ReadyWhen a b", "ReadyWhen: expected METRIC"),
    ("ReadyWhen a l=1 >= many", "ReadyWhen: expected METRIC"),
    ("ReadyWhen a >= 1 2", "ReadyWhen: expected METRIC"),
    ("ReadyWhen a a=1 b=2 c=3 d=4 e=5", "ReadyWhen: expected METRIC"),
    ("ReadyWhen m\n" * 33, "ReadyWhen: at most 32 lines"),
    ("Alow ::1", "Allow"),
])
def test_faults_have_their_place(tmp_path, lines, why):
    config = process.Config(tmp_path)
    config.write(**configured(lines))
    checked = process.run("--configdir", config.folder, "--test")
    assert checked.returncode == 1
    assert why in checked.stdout + checked.stderr and "status.conf:" in checked.stdout + checked.stderr


def test_a_match_line_is_refused(tmp_path):
    config = process.Config(tmp_path)
    config.write(handlers="Match ^/metrics status", **configured())
    checked = process.run("--configdir", config.folder, "--test")
    assert checked.returncode == 1
    assert "its paths are Metrics, Page and Health of [STATUS]" in checked.stdout + checked.stderr


# -- to whom


@pytest.mark.parametrize("lines, source, metrics, health", [
    ("", "127.0.0.1", 200, 200),
    ("", "127.1.2.3", 200, 200),
    ("Allow 127.0.0.2", "127.0.0.1", 403, 403),
    ("Allow 127.0.0.2\nHealthAllow 127.0.0.0/8", "127.0.0.1", 403, 200),
    ("Allow 127.0.0.2 127.0.0.3\nAllow 127.0.0.4", "127.0.0.4", 200, 200),
    ("Allow unix", "127.0.0.1", 403, 403),
])
def test_networks(start, lines, source, metrics, health):
    server = start(**configured(lines))
    for path, status in (("/metrics", metrics), ("/status", metrics), ("/status?format=json", metrics), ("/status?script", metrics),
                         ("/health/live", health), ("/health/ready", health)):
        with Connection(("127.0.0.1", server.port), source=source) as connection:
            assert connection.request(path).status == status, path


def test_others_than_loopback_are_refused_by_default(start):
    server = start(server="Listen 127.0.0.1:0 proxy\nTrustedProxies 127.0.0.1", **configured())
    ask = b"GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    assert server.raw(b"PROXY TCP4 192.0.2.7 127.0.0.1 1 2\r\n" + ask).startswith(b"HTTP/1.1 403")
    assert server.raw(b"PROXY TCP4 127.0.0.9 127.0.0.1 1 2\r\n" + ask).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("allow, status", [("Allow unix", 200), ("Allow ::/0", 403)])
def test_clients_of_unix_sockets(start, tmp_path, allow, status):
    start(server=f"Listen unix:{tmp_path}/sock", **configured(allow))
    with Connection(f"{tmp_path}/sock") as connection:
        assert connection.request("/metrics").status == status


# -- the answer


def test_fields_and_methods(start):
    server = start(**configured())
    for path in ("/metrics", "/status", "/status?format=json", "/status?script", "/health/live", "/health/ready"):
        answer = server.get(path)
        assert answer.header("Cache-Control") == "no-store" and answer.header("X-Content-Type-Options") == "nosniff"
        head = server.raw(http.request(path, method="HEAD", headers=[("Connection", "close")]))
        assert head.startswith(b"HTTP/1.1 200") and head.endswith(b"\r\n\r\n"), path
        refused = http.parse_one(server.raw(http.request(path, method="POST", headers=[("Connection", "close")])), "POST")
        assert refused.status == 405 and refused.header("Allow") == "GET, HEAD"


@pytest.mark.parametrize("accept, is_open", [
    (None, False),
    (OPEN, True),
    ("text/plain", False),
    ("*/*", False),
    ("application/openmetrics-text; version=1.0.0", True),
    ("application/openmetrics-text;q=0", False),
    ("application/openmetrics-text;q=0.2, text/plain;q=0.3", False),
])
def test_format_is_chosen_by_accept(start, accept, is_open):
    answer = get(start(**configured()), "/metrics", accept)
    kind = "application/openmetrics-text; version=1.0.0; charset=utf-8" if is_open else "text/plain; version=0.0.4; charset=utf-8"
    assert answer.header("Content-Type") == kind
    assert answer.text.endswith("\n# EOF\n") == is_open
    assert ("# TYPE monkey_reloads_total counter" in answer.text) != is_open
    assert ("# TYPE monkey_reloads counter" in answer.text) == is_open
    assert ('le="1.0"' in answer.text) == is_open and ('le="1"' in answer.text) != is_open


def everything(one, tmp_path):
    return configured(plugins=["proxy_reverse", "logger"], server="Workers 2", extra={
        "plugins/proxy_reverse/proxy_reverse.conf": section("PROXY_ENTRY", f"Name shop\nMatch ^/shop\n{servers(one)}")})


def test_promtool_finds_nothing_to_say(start, tmp_path):
    with backends(1) as one:
        server = start(**everything(one, tmp_path))
        assert server.get("/shop").status == 200 and server.get("/none").status == 404
        assert promtool(server.get("/metrics").text) == (0, "")


def test_samples_of_plugins_that_are_hostile(start):
    """The plugin measure has labels with quotes, backslashes, ends of lines and bytes that are not UTF-8."""
    server = start(**configured(plugins=["measure"]))
    text = server.get("/metrics").text
    assert r'monkey_measure_requests_total{place="a \"b\" \\c\n' + "\ufffd" + '",empty=""} ' in text
    samples(text)
    assert promtool(text)[0] == 0


def test_json_has_the_same_samples(start):
    server = start(**configured(server="Workers 1"))
    page = json.loads(server.get("/status?format=json").body)
    names = {re.sub("{.*", "", key) for key in scrape(server)}
    assert {s["name"] for s in page["samples"]} == names
    assert page["version"] and page["uptime_ms"] >= 0


PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000


@contextlib.contextmanager
def standing(thread):
    """One thread of a server stands still."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(PTRACE_SEIZE, thread, None, None) < 0:
        pytest.skip(f"this system traces no threads: errno {ctypes.get_errno()}")
    assert libc.ptrace(PTRACE_INTERRUPT, thread, None, None) == 0
    os.waitpid(thread, WALL)
    try:
        yield
    finally:
        libc.ptrace(PTRACE_DETACH, thread, None, None)


def silent_workers(server):
    """As a scrape on the worker that turns says; None: the connection came to the other one."""
    with server.connect(timeout=2) as connection:
        try:
            answer = connection.request("/metrics")
        except (AssertionError, OSError):
            return None
        return samples(answer.text)["monkey_workers_silent"]


def test_a_stuck_worker_does_not_hold_the_answer_up(start):
    server = start(**configured(server="Workers 2"))
    tasks = pathlib.Path(f"/proc/{server.process.pid}/task")
    workers = [int(task.name) for task in tasks.iterdir() if "worker" in (task / "comm").read_text()]
    if len(workers) != 2:
        pytest.skip("the threads of this build have no names")
    with standing(workers[1]):
        assert any(silent_workers(server) == 1 for _ in range(16))  # connections come to either worker
    assert eventually(lambda: silent_workers(server) == 0)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["/metrics", "/status?format=json", "/health/ready"])
def test_a_scrape_while_an_allocation_fails(start, allocations, target):
    server = start(env=allocations.environment, **configured("ReadyWhen monkey_site_responses_total", server="Workers 1"))
    for number in itertools.count(1):
        answer = None
        with server.connect() as connection, contextlib.suppress(AssertionError, OSError):
            connection.request("/a.txt")
            allocations.arm(number)
            answer = connection.request(target)
        allocations.disarm()
        assert answer is None or answer.status in (200, 500, 503), number
        assert server.is_running(), f"allocation {number}\n{server.log()[-2000:]}"
        if not allocations.failed:
            break
    assert answer.status == 200 and number > 1


@pytest.mark.slow
def test_a_reload_while_an_allocation_fails(start, allocations):
    """It is refused and the old configuration stays, with its counters; or it succeeds."""
    config = configured("Allow ::/0", server="Workers 1", sites={"b": "[HOST]\n    ServerName b.example\n    DocumentRoot /tmp\n"})
    server = start(env=allocations.environment, **config)
    assert server.get("/a.txt").status == 200  # all plugins have started
    for number in itertools.count(1):
        since = len(server.log())
        allocations.arm(number)
        server.signal(signal.SIGHUP)
        assert eventually(lambda: "reload" in server.log()[since:].lower() or not server.is_running())
        allocations.disarm()
        assert server.is_running(), f"allocation {number}\n{server.log()[-2000:]}"
        assert server.get("/a.txt").status == 200
        if not allocations.failed:
            break
    assert number > 20
    assert scrape(server)['monkey_site_responses_total{site="default",status="2xx"}'] == number + 1


# -- what other plugins count


@pytest.mark.parametrize("plugin", [pytest.param(name, marks=needs(name)) for name in ("tls", "mbedtls")])
def test_handshakes(start, plugin):
    config = secured.config(certificates.issue().lines(), plugin=plugin)
    config["extra"]["plugins.load"] += f"    Load {process.plugin('status')}\n"
    config["extra"]["plugins/status/status.conf"] = section("STATUS", "")
    server = start(**config)
    with server.connect() as plain:
        plain.send(http.request("/"))
        assert b" 400 " in plain.rest_until_cut()
    assert secured.ask(server, "/a.txt")
    since = secured.ask(server, "/metrics").text
    server.reload(**config)
    for text, done in ((since, 2), (secured.ask(server, "/metrics").text, 3)):
        now = samples(text)
        assert now[f'monkey_{plugin}_handshakes_total{{peer="client"}}'] == done
        assert now[f'monkey_{plugin}_handshakes_failed_total{{peer="client"}}'] == 1
        assert now[f'monkey_{plugin}_handshakes_total{{peer="backend"}}'] == 0


def with_status(config):
    config["extra"]["plugins.load"] += f"    Load {process.plugin('status')}\n"
    config["extra"]["plugins/status/status.conf"] = section("STATUS", "")
    return config


def test_fastcgi(start):
    with fastcgi.Application(lambda call: call.answer(b"done")) as application:
        config = with_status(fastcgi.config(application, match="^/app"))
        server = start(**config)
        for _ in range(3):
            assert server.get("/app").status == 200
        server.reload(**config)
        now = scrape(server)
        of = {key.partition("{")[0]: value for key, value in now.items() if key.startswith("monkey_fastcgi_")}
        assert of == {"monkey_fastcgi_up": 1, "monkey_fastcgi_active_requests": 0, "monkey_fastcgi_requests_total": 3,
                      "monkey_fastcgi_failures_total": 0}
    for _ in range(2):
        assert server.get("/app").status == 502
    now = {key.partition("{")[0]: value for key, value in scrape(server).items()}
    assert now["monkey_fastcgi_failures_total"] >= 2


def test_cgi(start):
    script = "#!/bin/sh\necho 'Content-Type: text/plain'\necho\nsleep 0.5\necho done\n"
    server = start_site(start, {"slow": script}, "MaxProcesses 1\nQueueLength 1",
                        extra={**load_cgi("status"), "plugins/status/status.conf": section("STATUS", "")})
    with server.connect() as first, server.connect() as second:
        first.send(http.request("/cgi-bin/slow"))
        assert eventually(lambda: scrape(server)['monkey_cgi_running{pool="site"}'] == 1)
        second.send(http.request("/cgi-bin/slow"))
        assert eventually(lambda: scrape(server)['monkey_cgi_waiting{pool="site"}'] == 1)
        assert server.get("/cgi-bin/slow").status == 503
        assert first.response().status == second.response().status == 200
    now = scrape(server)
    assert now['monkey_cgi_started_total{pool="site"}'] == 2
    assert now['monkey_cgi_refused_total{pool="site"}'] == 1


# -- the dashboard


@needs("proxy_reverse", "fastcgi", "cgi", "tls")
def test_the_dashboard_names_what_there_is(start):
    """Each metric of each query is in the scrape of a server that has all of these plugins, with the labels that it is grouped by."""
    dashboard = json.loads((pathlib.Path(__file__).parents[2] / "packaging" / "grafana-dashboard.json").read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    queries += [variable["query"]["query"] for variable in dashboard["templating"]["list"] if variable["type"] == "query"]
    named = {name for query in queries for name in re.findall(r"\bmonkey_\w+", query)}
    with backends(1) as one, fastcgi.Application(lambda call: call.answer(b"done")) as application:
        load = "".join(f"Load {process.plugin(name)}\n" for name in ("proxy_reverse", "fastcgi", "cgi", "tls", "status"))
        server = start(handlers="Match ^/app fastcgi\nMatch ^/cgi-bin/ cgi", files=FILES, extra={
            "plugins.load": section("PLUGINS", load), "plugins/status/status.conf": section("STATUS", ""),
            "plugins/fastcgi/fastcgi.conf": fastcgi.settings(application, location="Mount /app"),
            "plugins/proxy_reverse/proxy_reverse.conf": section("PROXY_ENTRY", f"Name shop\nMatch ^/shop\n{servers(one)}")})
        assert server.get("/shop").status == server.get("/app").status == 200
        now = scrape(server)
    there = {key.partition("{")[0] for key in now}
    assert len(named) > 20 and named <= there, named - there
    for query in queries:
        for labels, name in re.findall(r"by \(([\w, ]+)\) \((?:rate|increase)?\(?(monkey_\w+)", query):
            keys = [key for key in now if key.partition("{")[0] == name]
            assert all(f'{label}="' in keys[0] for label in labels.split(", ")), query
    assert [panel["id"] for panel in dashboard["panels"]] == list(range(1, len(dashboard["panels"]) + 1))


# -- health


def test_health(start):
    server = start(**configured())
    assert server.get("/health/live").body == b"alive\n"
    assert server.get("/health/ready").body == b"ready\n" == server.get("/health").body


def test_ready_while_a_backend_is_up(start):
    with backends(2) as two:
        server = start(**configured(
            "ReadyWhen monkey_proxy_up entry=shop\nReadyWhen monkey_proxy_waiting_requests <= 5", plugins=["proxy_reverse"], extra={
                "plugins/proxy_reverse/proxy_reverse.conf": section(
                    "PROXY_ENTRY", f"Name shop\nMatch ^/shop\n{servers(two)}\nHealthCheck / 200ms")}))
        assert eventually(lambda: server.get("/health/ready").status == 200)
        two[0].stop()
        time.sleep(0.5)
        assert server.get("/health/ready").status == 200
        two[1].stop()
        assert eventually(lambda: server.get("/health/ready").status == 503)
        assert server.get("/health/ready").body == b"not met: monkey_proxy_up entry=shop (it is 0)\n"
        assert server.get("/health/live").status == 200


@pytest.mark.parametrize("condition, body", [
    ("monkey_nothing_up", b"not met: monkey_nothing_up (there is no such metric)\n"),
    ("monkey_site_responses_total site=default status=2xx >= 9", b"not met: monkey_site_responses_total site=default "
                                                                 b"status=2xx >= 9 (it is 1)\n"),
    ("monkey_site_responses_total status=2xx <= 0", b"not met: monkey_site_responses_total status=2xx <= 0 (it is 1)\n"),
    ("monkey_site_responses_total status=2xx <= 1", b"ready\n"),
    ("monkey_site_responses_total site=", b"not met: monkey_site_responses_total site= (there is no such metric)\n"),
])
def test_conditions(start, condition, body):
    server = start(**configured(f"ReadyWhen {condition}"))
    assert server.get("/a.txt").status == 200
    answer = server.get("/health/ready")
    assert answer.body == body and answer.status == (200 if body == b"ready\n" else 503)


def test_not_ready_while_stopping(start):
    server = start(**configured(server="GracefulTimeout 30\nLogLevel trace:conn"))
    with server.connect() as begun:
        begun.send(b"GET /health/ready HTTP/1.1\r\nHost:")
        server.wait_for_log("to=head")
        server.signal(15)
        server.wait_for_log("stopping")
        begun.send(b" a\r\n\r\n")
        answer = begun.response()
        assert answer.status == 503 and answer.body == b"the server is stopping\n"


@pytest.mark.parametrize("lines, logged", [("", 0), ("HealthLog on", 2)])
def test_health_is_not_logged(start, lines, logged):
    server = start(**configured(lines, plugins=["logger"], site=section("LOGGER", "AccessLog access.log")))
    server.get("/health/live")
    server.get("/health/ready")
    server.get("/a.txt")
    log = next(iter(server.folder.rglob("access.log")))
    assert eventually(lambda: "/a.txt" in log.read_text())
    assert log.read_text().count("/health/") == logged


# -- Prometheus itself


@pytest.mark.limit(120)
def test_prometheus_scrapes(start, tmp_path):
    server = start(**configured())
    for _ in range(5):
        server.get("/a.txt")
    with prometheus.running(tmp_path, "global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: monkey\n    static_configs:\n"
                                      f"      - targets: ['127.0.0.1:{server.port}']\n") as tracker:
        assert eventually(lambda: tracker.values('up{job="monkey"}') == [1], within=60, every=0.5), tracker.log()
        assert tracker.values('monkey_site_responses_total{status="2xx"}')[0] >= 5
        assert tracker.values('histogram_quantile(0.5, monkey_site_duration_seconds_bucket)')[0] > 0
        assert tracker.values('scrape_samples_scraped{job="monkey"}')[0] > 50
