# SPDX-License-Identifier: Apache-2.0
"""The page of StatisticsURL, as HTML and JSON: what it tells, to whom, and that nothing on it is markup of others."""

import html
import html.parser
import json
import pathlib
import re
import shutil
import socket
import subprocess
import threading

import pytest

from harness import config, http
from harness.backend import backends, proxy, servers
from harness.client import eventually, free_port
from harness.shell import ask


@pytest.fixture
def two():
    with backends(2) as made:
        yield made


def entry(made, lines=""):
    return f"Name shop\nMatch ^/\n{servers(made)}\nStatisticsURL /stats\n{lines}"


def of(server, backend, **headers):
    answer = server.get("/stats?format=json", **headers)
    entries = json.loads(answer.text)["entries"]
    return next(b for e in entries for b in e["backends"] if b["name"] == backend.address)


class Tags(html.parser.HTMLParser):
    """Complains about what is not closed, and collects what would be fetched."""

    VOID = {"meta", "link", "br", "img", "input", "!doctype"}

    def __init__(self, text):
        super().__init__()
        self.open, self.fetched, self.text = [], [], []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.fetched += [value for name, value in attrs if name in ("src", "href") and not value.startswith("?")]
        self.fetched += [tag] if tag in ("script", "iframe", "object", "img") else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


# -- what it tells


def summary(server):
    """The figures above the tables."""
    page = server.get("/stats").text
    return dict(re.findall(r"<dt>([^<]+)</dt><dd>([^<]+)</dd>", page)), page


def test_totals_rates_and_the_name_of_the_server(start, two):
    """Of several servers behind one name each shows its own page."""
    server = start(server="Workers 1", extra=proxy(entry(two)))
    for _ in range(6):
        assert server.request("/", "POST", body=b"12345").status == 200
    figures, page = summary(server)
    assert (figures["Backends up"], figures["Requests"], figures["Failures"]) == ("2 of 2", "6", "0")
    assert (figures["Active"], figures["Waiting"], figures["To backends"]) == ("0", "0", "30 B")
    assert 0 < float(figures["Per second"]) <= 0.1  # 6 in one to two minutes
    assert re.search(rf"<strong>{re.escape(html.escape(socket.gethostname()))}</strong>.*Monkey 2\.\d+\.\d+, up 0:0", page)
    facts = json.loads(server.get("/stats?format=json").text)
    assert facts["host"] == socket.gethostname() and facts["version"].startswith("2.") and facts["uptime_s"] >= 0
    rates = [b["requests_per_second"] for b in facts["entries"][0]["backends"]]
    assert 0 < sum(rates) <= 0.1


def test_page_has_the_colours_of_the_welcome_page(start, two):
    server = start(extra=proxy(entry(two)))
    welcome = (pathlib.Path(__file__).parents[2] / "htdocs" / "style.css").read_text()
    page = server.get("/stats").text
    for name, own in (("paper", "bg"), ("card", "card"), ("text", "text"), ("soft", "dim"), ("line", "line"), ("accent", "link")):
        wanted = re.findall(rf"--{name}: (#[0-9a-f]+);", welcome)
        assert re.findall(rf"--{own}:(#[0-9a-f]+)[;}}]", page) == wanted and len(wanted) == 2, name


def test_numbers_are_right(start, two):
    a, b = two
    server = start(server="Workers 1", extra=proxy(entry(two, "LoadBalancer First-Alive\nOfflineTimeOut 60")))
    for _ in range(3):
        assert server.request("/", "POST", body=b"12345").text == "a"
    a.each = lambda conn, request: conn.answer(b"none", status="404 Not Found")
    assert server.get("/missing").status == 404
    fact = of(server, a)
    assert (fact["state"], fact["requests"], fact["failures"], fact["active"]) == ("up", 4, 0, 0)
    assert (fact["answers_2xx"], fact["answers_4xx"]) == (3, 1)
    assert (fact["bytes_sent"], fact["bytes_received"]) == (15, 7)
    assert (fact["connections"], fact["idle"], fact["weight"], fact["last_check"]) == (1, 1, 1, None)
    latency = fact["latency_us"]
    assert latency["count"] == 4 and 0 < latency["p50"] <= latency["p90"] <= latency["p99"] <= latency["max"] < 10**7
    assert of(server, b)["requests"] == 0
    a.stop()
    for _ in range(2):
        assert server.get("/").text == "b"
    fact = of(server, a)
    assert (fact["state"], fact["failures"]) == ("offline", 2) and 0 < fact["next_try_ms"] <= 60000


def test_requests_under_way_are_counted(start, two):
    release = threading.Event()
    for backend in two:
        backend.each = lambda conn, request: (release.wait(20), conn.answer(b"x"))
    server = start(extra=proxy(entry(two, "MaxConnections 2")))
    connections = [server.connect() for _ in range(6)]
    for connection in connections:
        connection.send(http.request("/"))
    assert eventually(lambda: sum(of(server, backend)["waiting"] for backend in two) == 2)
    assert [of(server, backend)["active"] for backend in two] == [3, 3]
    assert [of(server, backend)["connections"] for backend in two] == [2, 2]
    release.set()
    for connection in connections:
        assert connection.response().status == 200
    assert [of(server, backend)["active"] for backend in two] == [0, 0]


def test_what_went_wrong_leaves_nothing_active(start, two):
    """Clients that leave, backends that break: the counts of requests under way go back to none."""
    a, b = two
    a.each = lambda conn, request: (conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n123"), conn.reset())
    server = start(extra=proxy(entry(two, "OfflineTimeOut 0\nLoadBalancer RoundRobin")))
    release = threading.Event()
    b.each = lambda conn, request: release.wait(20)
    for _ in range(6):
        with server.connect() as connection:
            connection.send(http.request("/"))
            eventually(lambda: b.active, within=0.1)
    release.set()
    assert eventually(lambda: [of(server, backend)["active"] for backend in two] == [0, 0])


# -- in which form


def test_html_is_whole_and_fetches_nothing(start, two):
    server = start(extra=proxy(entry(two)))
    answer = server.get("/stats")
    assert answer.header("Content-Type") == "text/html; charset=utf-8"
    assert answer.header("Cache-Control") == "no-store"
    assert "default-src 'none'" in answer.header("Content-Security-Policy")
    tags = Tags(answer.text)
    assert tags.fetched == []
    assert "shop" in tags.text and two[0].address in "".join(tags.text) and "RoundRobin" in tags.text
    assert server.head("/stats").header("Content-Length") == str(len(answer.body))
    assert '<meta http-equiv="refresh" content="5">' in server.get("/stats?refresh=5").text
    assert "http-equiv" not in server.get("/stats?refresh=5x").text + server.get("/stats?refresh=99999999999").text


@pytest.mark.parametrize("target, accept, is_json", [
    ("/stats", None, False),
    ("/stats", "application/json", True),
    ("/stats", "text/html,application/xhtml+xml,application/json;q=0.9,*/*;q=0.8", False),
    ("/stats", "*/*", False),
    ("/stats", "text/html;q=0.5, application/json", True),
    ("/stats", "application/json, text/html;q=0", True),
    ("/stats", "Application/JSON ; Q=0.001", True),
    ("/stats", "application/json;q=0", False),
    ("/stats", "application/json;q=0.000", False),
    ("/stats", "text/html, application/json", False),
    ("/stats", "application/jsonp, text/application/json, ,;q=1,;", False),
    ("/stats?format=json", "text/html", True),
    ("/stats?x=1&format=json", None, True),
    ("/stats?format=html", "application/json", False),
    ("/stats?formats=json", None, False),
])
def test_json_by_accept_or_by_format(start, two, target, accept, is_json):
    server = start(extra=proxy(entry(two)))
    answer = server.get(target, headers={"Accept": accept} if accept else None)
    assert answer.header("Content-Type").startswith("application/json" if is_json else "text/html")
    assert answer.header("Vary") == "Accept"
    if is_json:
        assert [e["name"] for e in json.loads(answer.text)["entries"]] == ["shop"]


def test_nothing_of_others_is_markup(start, two):
    name = """<b>"x"&'y'</b>"""
    server = start(extra=proxy(entry(two).replace("Name shop", f"Name {name}")))
    text = server.get("/stats").text
    assert "<b>\"" not in text and name in "".join(Tags(text).text)
    assert json.loads(server.get("/stats?format=json").text)["entries"][0]["name"] == name


def test_many_backends_fit(start):
    ports = " ".join(f"127.0.0.1:{port}" for port in range(20000, 20250))
    server = start(extra=proxy(f"Match ^/\nServerList {ports}\nStatisticsURL /stats"))
    assert len(json.loads(server.get("/stats?format=json").text)["entries"][0]["backends"]) == 250
    Tags(server.get("/stats").text)


def test_other_methods_are_refused(start, two):
    server = start(extra=proxy(entry(two)))
    answer = server.request("/stats", "POST", body=b"x")
    assert (answer.status, answer.header("Allow")) == (405, "GET, HEAD")


# -- to whom


@pytest.mark.parametrize("allow, source, status", [
    ("", "127.0.0.1", 200),
    ("", "127.9.9.9", 200),
    ("StatisticsAllow 127.0.0.1", "127.0.0.1", 200),
    ("StatisticsAllow 127.0.0.1", "127.0.0.2", 403),
    ("StatisticsAllow 10.0.0.0/8 ::1", "127.0.0.1", 403),
    ("StatisticsAllow 10.0.0.0/8\nStatisticsAllow 127.0.0.0/30", "127.0.0.3", 200),
])
def test_outsiders_are_refused(start, two, allow, source, status):
    server = start(extra=proxy(entry(two, allow)))
    with server.connect(source=source) as connection:
        assert connection.request("/stats").status == status
        assert two[0].requests + two[1].requests == []  # nor does a backend see it
    with server.connect(source=source) as connection:
        assert connection.request("/other").status == 200


def test_a_unix_socket_is_allowed_by_name_only(start, two, tmp_path):
    for lines, status in (("", 403), ("StatisticsAllow unix", 200)):
        path = tmp_path / f"socket{status}"
        server = start(server=f"Listen 127.0.0.1:0\nListen unix:{path}", extra=proxy(entry(two, lines)))
        with server.connect(address=str(path)) as connection:
            assert connection.request("/stats").status == status


def test_a_page_shows_the_entries_that_it_is_for(start, two):
    a, b = two
    server = start(extra=proxy(f"Name one\nMatch ^/1\n{servers([a])}\nStatisticsURL /stats",
                               f"Name two\nMatch ^/2\n{servers([b])}\nStatisticsURL /stats\nStatisticsAllow 192.0.2.1",
                               f"Name three\nMatch ^/3\n{servers([b])}\nStatisticsURL /other",
                               f"Name four\nMatch ^/4\n{servers([b])}"))
    assert [e["name"] for e in json.loads(server.get("/stats?format=json").text)["entries"]] == ["one"]
    assert [e["name"] for e in json.loads(server.get("/other?format=json").text)["entries"]] == ["three"]
    assert server.get("/4").text == "b"


def test_a_page_of_a_site_is_for_that_site_alone(start, two, tmp_path):
    """Another site's application has that path for itself, and its own page does not show what is its neighbour's."""
    a, b = two

    def site(name, backend, lines):
        text = config.section("PROXY_ENTRY", f"Name {name}\nMatch ^/\n{servers([backend])}\n{lines}")
        return f"[HOST]\n    ServerName {name}.test\n    DocumentRoot {tmp_path}\n{text}"

    server = start(extra=proxy(f"Name all\nMatch ^/all\n{servers([a])}\nStatisticsURL /stats"),
                   sites={"one": site("one", a, "StatisticsURL /stats"),
                          "two": site("two", b, "StatisticsURL /other"),
                          "three": site("three", b, "")})

    def shown(name, path):
        text = server.request(path, host=f"{name}.test").text
        return [e["name"] for e in json.loads(text)["entries"]] if text.startswith("{") else text

    assert shown("one", "/stats?format=json") == ["all", "one"]
    assert shown("two", "/stats?format=json") == ["all"]
    assert shown("two", "/other?format=json") == ["two"]
    assert shown("one", "/other") == "a"
    assert shown("three", "/other") == "b"
    assert shown("three", "/stats?format=json") == ["all"]


def test_a_network_that_is_none_is_a_fault(start):
    server = start(extra=proxy("Match ^/\nServerList 127.0.0.1:1\nStatisticsAllow localhost"), wait=False)
    assert server.expect_exit() == 1
    assert "StatisticsAllow: expected" in server.log()


# -- entries that begin with the same server


def test_entries_without_a_name_are_told_apart(start, two, tmp_path):
    place, first = tmp_path / "shell", two[0].address
    extra = proxy(*(f"Match ^/{n}\n{servers(two[:1])}\nStatisticsURL /stats" for n in "abc"),
                  f"Name {first}#4\nMatch ^/d\n{servers(two[:1])}", plugins=["cheetah"])
    extra["plugins/cheetah/cheetah.conf"] = f"[CHEETAH]\n    Socket {place}\n"
    server = start(extra=extra)
    for path in ("/a", "/b", "/b", "/c", "/c", "/c"):
        assert server.get(path).status == 200
    wanted = {first: 1, f"{first}#2": 2, f"{first}#3": 3}
    text = ask(place, "metrics")
    samples = [line.rpartition(" ")[0] for line in text.splitlines() if not line.startswith("#")]
    assert len(samples) == len(set(samples))
    for name, requests in wanted.items():
        assert f'monkey_proxy_requests_total{{entry="{name}",backend="{first}"}} {requests}\n' in text
    server.reload()
    for name, requests in wanted.items():
        assert f'monkey_proxy_requests_total{{entry="{name}",backend="{first}"}} {requests}\n' in ask(place, "metrics")


# -- shells and metrics


def test_cheetah_and_prometheus_see_the_same(start, two, tmp_path):
    place = tmp_path / "shell"
    extra = proxy(entry(two), f'Name "quoted"\nMatch ^/q\nServerList 127.0.0.1:{free_port()}', plugins=["cheetah"])
    extra["plugins/cheetah/cheetah.conf"] = f"[CHEETAH]\n    Socket {place}\n"
    server = start(extra=extra)
    for _ in range(4):
        assert server.get("/").status == 200
    text = ask(place, "metrics")
    labels = f'{{entry="shop",backend="{two[0].address}"'
    assert f"monkey_proxy_requests_total{labels}}} 2\n" in text
    assert f"monkey_proxy_up{labels}}} 1\n" in text
    assert f'monkey_proxy_answers_total{labels},status="2xx"}} 2\n' in text
    assert re.search(r"^monkey_proxy_head_seconds" + re.escape(labels) + r',percentile="99"\} \d+\.\d+$', text, re.M), text
    status = json.loads(ask(place, "status --json"))
    assert {row["metric"] for row in status["plugins"]} >= {"monkey_proxy_up", "monkey_proxy_failures_total"}
    if shutil.which("promtool"):
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True, timeout=30,
                                 check=False)
        assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")
