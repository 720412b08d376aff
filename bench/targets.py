# SPDX-License-Identifier: Apache-2.0
"""What to reach: one row a bar.  `must` is the bar, `good` the aim; smaller is better but for req_s."""

from dataclasses import dataclass


@dataclass
class Target:
    case: str
    figure: str             # a key of the merged figures of a case: see report.figures()
    must: float
    good: float = None
    against: str = None     # ratio to this server in the same round; None: the figure itself
    unit: str = ""
    of: str = "monkey"      # the server that is to reach it

    def met(self, value, bar):
        if value is None or bar is None:
            return None
        return value >= bar if self.figure == "req_s" else value <= bar


def _embedded(case, figure, must, against="embed-microhttpd"):
    return Target(case, figure, must, None, against, of="embed-monkey")


def _cpu(case, must, good, floor=None, against="nginx"):
    rows = [Target(case, "cpu", must, good, against)]
    if floor:
        rows.append(Target(case, "cpu", None, floor, "floor"))
    return rows


TARGETS = [
    *_cpu("keep", 0.60, 0.52, 1.2),
    Target("keep", "calls", 2.3),
    Target("keep-uncached", "calls", 3.1),
    *_cpu("keep-1core", 0.42, 0.34, 1.2),
    *_cpu("close", 1.00, 0.93, 1.08),
    Target("close", "calls", 6.0),
    *_cpu("close-1core", 0.92, 0.84, 1.12),
    *_cpu("logo", 0.70, 0.60, 1.25),
    Target("logo", "calls", 3.1),
    *_cpu("f200k-100", 0.95, 0.88, 1.08),
    Target("f200k-100", "calls", 3.3),
    *_cpu("f200k-500", 0.95, 0.88, 1.08),
    *_cpu("f200k-1000", 0.95, 0.88, 1.08),
    Target("f200k-1000", "calls", 3.3),
    Target("f200k-1000", "rss_mb", 3.4, unit="MB"),
    *_cpu("site", 0.95, 0.85, 1.2),
    Target("site", "errors", 0),
    *_cpu("c5000", 0.95, 0.85, 1.05),
    Target("c5000", "req_s", 1.0, against="nginx"),
    Target("c5000", "errors", 0),
    Target("c5000", "rss_mb", 6.0, unit="MB"),
    *_cpu("c5000k", 0.75, 0.65, 1.15),
    Target("c5000k", "errors", 0),
    Target("c5000k", "p99_ms", 1.0, against="nginx"),
    *_cpu("pipe16", 0.35, 0.20, 2.5),
    Target("pipe16", "p99_ms", 10.0, unit="ms"),
    Target("pipe16", "calls", 0.5),
    *_cpu("big", 1.05, 1.00, 1.0),
    *_cpu("2w-keep", 0.70, 0.60, 1.15, "nginx-ofc"),
    Target("2w-keep", "req_s", 1.0, against="nginx-ofc"),
    *_cpu("2w-close", 0.95, 0.83, 1.15, "nginx-ofc"),
    Target("2w-close", "req_s", 1.0, against="nginx-ofc"),
    *_cpu("2w-f200k", 0.80, 0.70, 1.15, "nginx-ofc"),
    Target("2w-f200k", "req_s", 1.0, against="nginx-ofc"),
    *_cpu("php-keep", 1.00, 0.85),
    *_cpu("php-close", 1.00, 0.85),
    *_cpu("php-1m", 1.00, 0.85),
    *_cpu("php-upload", 1.00, 0.85),
    *(Target(case, "req_s", 0.97, 1.0, "nginx") for case in ("php-keep", "php-close", "php-1m", "php-upload")),
    *(Target(case, "errors", 0) for case in ("php-keep", "php-close", "php-1m", "php-upload", "cgi")),
    Target("cgi", "req_s", 1.0, against="lighttpd"),
    *_cpu("tls-hs", 1.05, 1.00),
    *_cpu("tls-resume", 1.05, 1.00),
    *_cpu("tls-keep", 0.85, 0.78),
    *_cpu("tls-bulk", 0.90, 0.80),
    Target("idletls", "pss_bytes", 20480, unit="bytes"),
    Target("idletls", "unanswered", 0),
    *_cpu("proxy", 1.00, 0.85),
    Target("proxy", "calls", 5.0),
    *_cpu("proxy-close", 1.00, 0.85),
    *_cpu("proxy-200k", 0.50, 0.40),
    *_cpu("proxy-1m", 0.50, 0.40),
    *(Target(case, "p99_ms", 1.0, against="nginx") for case in ("proxy", "proxy-close", "proxy-200k", "proxy-1m")),
    *(Target(case, "errors", 0) for case in ("proxy", "proxy-close", "proxy-200k", "proxy-1m")),
    Target("idleproxy", "pss_bytes", 1.0, against="nginx"),
    Target("idleproxy", "unanswered", 0),
    Target("idle10k", "pss_bytes", 530, 290, unit="bytes"),
    Target("idle10k", "idle_cpu_ms", 5, unit="ms in 5 s"),
    Target("idle10k", "unanswered", 0),
    Target("instructions", "keep", 4900, 3500),
    Target("instructions", "close", 6400, 5000),
    *(_embedded(case, "cpu", 0.80) for case in ("hello", "hello-close", "hello-5000", "hello-json", "hello-post")),
    _embedded("hello", "cpu", 1.05, "monkey"),
    *(_embedded("instructions", how, 0.33) for how in ("keep", "close")),
    *(_embedded("idle10k", "pss_bytes", 1.0, peer) for peer in ("embed-microhttpd", "embed-libevent")),
    *(Target(case, "cpu", 0.30, None, "ws-node", of="ws-monkey") for case in ("ws-echo", "ws-echo-64k", "ws-5000")),
    Target("ws-5000", "p99_ms", 50.0, unit="ms", of="ws-monkey"),
    *(Target("wsgi", "cpu", 0.50, None, peer, of="wsgi-monkey") for peer in ("wsgi-waitress", "wsgi-gunicorn")),
    Target("start", "ms", 0.60, 0.45, "nginx"),
    Target("rest", "rss_kb", 2500, 1900, unit="KB"),
    Target("rest", "pss_kb", 500, unit="KB"),
    Target("rest", "private_kb", 350, unit="KB"),
    Target("size", "kb", 120, 80, unit="KB"),
]
