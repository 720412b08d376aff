# SPDX-License-Identifier: Apache-2.0
"""Ready hooks for groups: names of requests, other sites, rates, log-in, tokens."""

import json
import re
import threading

import pytest

from harness import duda, http
from harness.client import eventually


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory, logs):
    folder = tmp_path_factory.mktemp("services")
    duda.build(folder, "guarded", level=3)
    return start_shared(server="Workers 2", **duda.config(folder, duda.service("guarded", LogDir=logs)))


def problem(answer):
    assert answer.header("Content-Type") == "application/problem+json"
    return json.loads(answer.body)["title"]


# ---- names


def test_a_request_gets_a_name(server):
    answers = [server.get("/guarded/named/") for _ in range(20)]
    names = [answer.header("X-Request-Id") for answer in answers]
    assert len(set(names)) == 20 and all(re.fullmatch("[0-9a-f]{16}-[0-9a-f]+", name) for name in names)
    assert [answer.body.decode() for answer in answers] == names
    assert all(answer.all("X-Request-Id") == [name] for answer, name in zip(answers, names))


@pytest.mark.parametrize("name", ["a", "A-b_c.9", "x" * 64])
def test_a_name_is_taken(server, name):
    answer = server.get("/guarded/named/", headers={"X-Request-Id": name})
    assert answer.body.decode() == answer.header("X-Request-Id") == name


@pytest.mark.parametrize("name", ["", "x" * 65, "a b", "a\"b", "ä"])
def test_a_name_that_is_none_is_not_taken(server, name):
    answer = server.get("/guarded/named/", headers={"X-Request-Id": name.encode("latin-1").decode("latin-1")})
    assert answer.status == 200 and re.fullmatch("[0-9a-f]{16}-[0-9a-f]+", answer.header("X-Request-Id"))


def test_the_name_lasts_until_hooks_after_the_answer(server):
    server.get("/guarded/named/", headers={"X-Request-Id": "ended-7"})
    assert eventually(lambda: server.get("/guarded/named/ended").body == b"ended-7")


def test_the_journal_has_the_name(server, logs):
    server.get("/guarded/named/", headers={"X-Request-Id": "in-journal"})
    answer = server.get("/guarded/named/not", headers={"X-Request-Id": "not-here"})
    assert answer.body == b"-" and answer.header("X-Request-Id") is None

    def lines():  # the file comes with the first of them
        if not (logs / "guarded.log").exists():
            return []
        return [json.loads(line) for line in (logs / "guarded.log").read_text().splitlines(keepends=True) if line.endswith("\n")]

    assert eventually(lambda: any(line.get("request") == "in-journal" for line in lines()))
    assert eventually(lambda: any("request" not in line for line in lines()))
    assert not any(line.get("request") == "not-here" for line in lines())


# ---- other sites


APP = {"Origin": "https://app.example"}


def asks(server, path, method="PUT", origin="https://app.example", **more):
    return server.request("/guarded" + path, "OPTIONS",
                          headers={"Origin": origin, "Access-Control-Request-Method": method, **more})


def cors(answer):
    return {name.lower().removeprefix("access-control-"): value for name, value in answer.fields
            if name.lower().startswith("access-control-")}


@pytest.mark.parametrize("origin", ["https://app.example", "http://localhost:3000"])
def test_browsers_may_ask_before(server, origin):
    answer = asks(server, "/shared/item/1", origin=origin)
    assert answer.status == 204 and answer.body == b""
    assert cors(answer) == {"allow-origin": origin, "allow-credentials": "true", "allow-methods": "GET, PUT",
                            "allow-headers": "X-One, X-Two", "max-age": "60"}
    assert ", ".join(answer.all("Vary")) == "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"


@pytest.mark.parametrize("origin", ["https://app.example.evil", "http://app.example", "https://app.example:444", "null"])
def test_other_sites_may_not(server, origin):
    answer = asks(server, "/shared/item/1", origin=origin)
    assert answer.status == 403 and problem(answer) == "Origin not allowed" and not cors(answer)
    assert "Origin" in answer.all("Vary")
    answer = server.get("/guarded/shared/item/1", headers={"Origin": origin})
    assert not cors(answer) and answer.header("Vary") == "Origin"


def test_answers_and_errors_have_the_fields(server):
    answer = server.get("/guarded/shared/item/1", headers=APP)
    assert answer.status == 401  # of the hook that follows
    assert cors(answer) == {"allow-origin": "https://app.example", "allow-credentials": "true", "expose-headers": "X-Seen, ETag"}
    assert answer.header("Vary") == "Origin"
    assert server.get("/guarded/shared/item/1").header("Vary") == "Origin"


def test_paths_that_browsers_may_not_ask_for(server):
    assert not cors(asks(server, "/shared/item/x"))
    answer = server.request("/guarded/shared/item/1", "OPTIONS", headers=APP)
    assert answer.status == 204 and not cors(answer)
    assert set(answer.header("Allow").split(", ")) == {"GET", "HEAD", "PUT", "OPTIONS"}


def test_a_route_for_options_is_asked_after_the_browser_has(server):
    assert cors(asks(server, "/shared/own"))["allow-methods"] == "GET, PUT"
    assert server.request("/guarded/shared/own", "OPTIONS").status == 401


def test_a_group_within_has_its_own(server):
    assert asks(server, "/shared/inner/").status == 403
    answer = asks(server, "/shared/inner/", origin="https://inner.example")
    assert cors(answer) == {"allow-origin": "https://inner.example", "max-age": "600", "allow-headers": "Content-Type",
                            "allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE"}
    assert not cors(server.get("/guarded/shared/inner/", headers=APP))


def test_all_sites(server):
    answer = server.get("/guarded/open/", headers={"Origin": "null"})
    assert answer.status == 200 and cors(answer) == {"allow-origin": "*"} and answer.header("Vary") is None
    answer = asks(server, "/open/", **{"Access-Control-Request-Headers": "X-Any, X-Other"})
    assert cors(answer)["allow-headers"] == "X-Any, X-Other" and cors(answer)["max-age"] == "0"


# ---- rates


def test_a_client_that_sends_too_much_is_refused(server):
    assert [server.get("/guarded/limited" + path).status for path in ("/", "/other", "/")] == [200, 200, 200]
    answer = server.get("/guarded/limited/other")
    assert answer.status == 429 and problem(answer) == "Too many requests"
    assert 1 <= int(answer.header("Retry-After")) <= 200
    assert server.get("/guarded/limited4/").status == 200  # each group has a rate of its own


def test_workers_count_together(server):
    seen = []

    def ask():
        for _ in range(5):
            seen.append(server.get("/guarded/limited2/other").status)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 20 and seen.count(200) <= 3 and seen.count(200) + seen.count(429) == 20


@pytest.fixture(scope="module")
def behind_a_proxy(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("services")
    duda.build(folder, "guarded", level=3)
    return start_shared(server="Workers 1\nTrustedProxies 127.0.0.1", **duda.config(folder, "guarded"))


def drain(server, *lines):
    """How many requests of this client are answered."""
    headers = [("X-Forwarded-For", line) for line in lines]
    return [server.request("/guarded/limited/", headers=headers).status for _ in range(4)].count(200)


def test_a_trusted_proxy_says_who_the_client_is(behind_a_proxy):
    assert drain(behind_a_proxy, "192.0.2.1") == 3
    assert drain(behind_a_proxy, "192.0.2.1") == 0
    assert drain(behind_a_proxy, "192.0.2.2") == 3
    assert drain(behind_a_proxy, "198.51.100.9, 192.0.2.2") == 0  # what stands before it, the client has written
    assert drain(behind_a_proxy, "198.51.100.9", "192.0.2.2:4711") == 0
    assert drain(behind_a_proxy, "192.0.2.2, 198.51.100.9") == 3
    assert drain(behind_a_proxy, "2001:db8::1") == 3
    assert drain(behind_a_proxy, "[2001:db8::2]:80") == 0  # of the same network
    assert drain(behind_a_proxy, "2001:db8:0:1::1") == 3
    assert drain(behind_a_proxy, "unknown") == 3  # then it is the proxy's own
    assert drain(behind_a_proxy, "192.0.2.3/8") == drain(behind_a_proxy) == 0


def test_other_clients_cannot_say_who_they_are(server):
    answers = [server.get("/guarded/limited3/", headers={"X-Forwarded-For": f"192.0.2.{number}"}).status for number in range(4)]
    assert answers == [200, 200, 200, 429]


# ---- log-in and tokens


class Browser:
    def __init__(self, server, **headers):
        self.server, self.cookies, self.headers = server, {}, headers
        self.path = "/guarded"

    def ask(self, path, method="GET", headers=None, **kwargs):
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        own = {**self.headers, **({"Cookie": cookies} if cookies else {}), **(headers or {})}
        answer = self.server.request(self.path + path, method, headers=own, **kwargs)
        for line in answer.all("Set-Cookie"):
            name, _, value = line.partition(";")[0].partition("=")
            if value == "deleted":
                self.cookies.pop(name, None)
            else:
                self.cookies[name] = value
        return answer

    def token(self):
        return self.ask("/tokens/").body.decode()

    def post(self, path, token=None, user="ann"):
        fields = f"user={user}" + (f"&csrf_token={token}" if token else "")
        return self.ask(path, "POST", {"Content-Type": "application/x-www-form-urlencoded"}, body=fields.encode())


def test_a_token_belongs_to_a_session(server):
    ann, bob = Browser(server), Browser(server)
    token = ann.token()
    assert re.fullmatch("[0-9a-f]{64}", token) and list(ann.cookies) == ["DUDA_CSRF_guarded"]
    assert ann.token() != token  # each is masked
    assert ann.post("/tokens/", token).status == ann.post("/tokens/", ann.token()).status == 200
    bob.token()
    refused = bob.post("/tokens/", token)
    assert refused.status == 403 and problem(refused) == "The page is too old, or of another site"
    assert Browser(server).post("/tokens/", token).status == 403


@pytest.mark.parametrize("change", [lambda t: None, lambda t: t[:-1], lambda t: t + "0", lambda t: t.upper(), lambda t: "g" * 64,
                                    lambda t: t[:-1] + ("0" if t[-1] != "0" else "1"), lambda t: "0" * 64,
                                    lambda t: "%00" + t[1:], lambda t: ""])
def test_a_wrong_token_is_refused(server, change):
    ann = Browser(server)
    token = ann.token()
    while token.upper() == token:
        token = ann.token()
    assert ann.post("/tokens/", change(token)).status == 403
    assert ann.post("/tokens/", token).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_scripts_send_it_in_a_field(server, method):
    ann = Browser(server)
    token = ann.token()
    assert ann.ask("/tokens/", method).status == 403
    assert ann.ask("/tokens/", method, {"X-CSRF-Token": token}).status == 200


def test_forms_with_files_have_it_too(server):
    ann = Browser(server)
    body = f'--b\r\nContent-Disposition: form-data; name="csrf_token"\r\n\r\n{ann.token()}\r\n--b--\r\n'.encode()
    for bytes_sent, status in ((body, 200), (body.replace(b"csrf_token", b"other_name"), 403)):
        assert ann.ask("/tokens/", "POST", {"Content-Type": "multipart/form-data; boundary=b"}, body=bytes_sent).status == status


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_methods_that_change_nothing_need_none(server, method):
    assert server.request("/guarded/tokens/", method).status in (200, 204)


def test_tokens_end_when_somebody_logs_in_or_out(server):
    ann = Browser(server)
    before = ann.token()
    assert ann.post("/tokens/login", before).status == 200 and list(ann.cookies) == ["DUDA_SESSION_guarded"]
    assert ann.post("/tokens/", before).status == 403
    within = ann.token()
    assert ann.post("/tokens/", within).status == 200
    assert ann.post("/tokens/logout", within).status == 200
    assert ann.post("/tokens/", within).status == 403 and ann.post("/tokens/", before).status == 403
    assert ann.post("/tokens/", ann.token()).status == 200


def test_another_log_in_renews_the_identity(server):
    ann = logged_in(server)
    cookie = ann.cookies["DUDA_SESSION_guarded"]
    assert ann.post("/tokens/login", ann.token()).status == 200 and ann.cookies["DUDA_SESSION_guarded"] == cookie
    assert ann.post("/tokens/login", ann.token(), user="bob").status == 200 and ann.cookies["DUDA_SESSION_guarded"] != cookie


def test_a_secret_that_the_server_has_not_made_is_none(server):
    ann = Browser(server)
    token = ann.token()
    value = ann.cookies["DUDA_CSRF_guarded"]
    for wrong in (value[:-1] + ("0" if value[-1] != "0" else "1"), value[:32] + value[33:], value.replace(".", ","),
                  ("1" if value[0] != "1" else "2") + value[1:], value + "0", value[:32], ""):
        ann.cookies["DUDA_CSRF_guarded"] = wrong
        assert ann.post("/tokens/", token).status == 403
    ann.cookies["DUDA_CSRF_guarded"] = value
    assert ann.post("/tokens/", token).status == 200


def test_services_of_a_site_keep_the_sessions_of_each_other(start, tmp_path):
    for name in ("one", "two"):
        duda.build(tmp_path / "services", "guarded", name=name, level=3)
    server = start(**duda.config(tmp_path / "services", "one", "two"))
    ann = Browser(server)
    for name in ("one", "two"):
        ann.path = f"/{name}"
        assert ann.post("/tokens/login", ann.token()).status == 200
    for name in ("one", "two"):
        ann.path = f"/{name}"
        assert ann.ask("/members/page").status == 200
    assert sorted(ann.cookies) == ["DUDA_SESSION_one", "DUDA_SESSION_two"]


def test_strangers_who_load_pages_begin_no_session(server):
    ann = logged_in(server)
    for _ in range(100):
        stranger = Browser(server)
        assert stranger.token() and "DUDA_SESSION_guarded" not in stranger.cookies
    assert ann.ask("/members/page").body == b"ok"


@pytest.fixture(scope="module")
def nameless(start_shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nameless")
    duda.build(folder, "nameless", name="guarded", level=3)
    return start_shared(**duda.config(folder, "guarded"))


@pytest.mark.parametrize("kind", ["server", "nameless"])
def test_a_planted_cookie_is_worth_nothing_in_a_session(request, kind):
    """Its code is of the server: whoever plants it has loaded a page himself."""
    mallory, ann = (Browser(request.getfixturevalue(kind)) for _ in range(2))
    planted = mallory.token()
    assert ann.ask("/enter").status == 200 and list(ann.cookies) == ["DUDA_SESSION_guarded"]
    ann.cookies["DUDA_CSRF_guarded"] = mallory.cookies["DUDA_CSRF_guarded"]
    assert ann.post("/tokens/", planted).status == 403
    own = ann.token()
    assert ann.post("/tokens/", planted).status == 403
    assert ann.post("/tokens/", own).status == 200
    assert mallory.post("/tokens/", planted).status == 200


def test_tokens_end_with_the_identity_of_a_session_without_a_named_log_in(nameless):
    ann = Browser(nameless)
    before = ann.token()
    assert ann.post("/tokens/", before).status == ann.post("/tokens/", before).status == 200
    within = ann.post("/tokens/login", before).body.decode()
    assert ann.post("/tokens/", before).status == 403
    assert ann.post("/tokens/", within).status == ann.post("/tokens/", ann.token()).status == 200
    other = ann.post("/tokens/login", within, user="bob").body.decode()
    assert ann.post("/tokens/", within).status == 403
    assert ann.post("/tokens/", other).status == 200


def logged_in(server, **headers):
    ann = Browser(server, **headers)
    assert ann.post("/tokens/login", ann.token()).status == 200
    return ann


def test_members_alone(server):
    assert logged_in(server).ask("/members/page").body == b"ok"
    refused = server.get("/guarded/members/page")
    assert refused.status == 401 and problem(refused) == "Log in first"
    assert refused.header("WWW-Authenticate") == 'Session realm="guarded"'
    assert server.get("/guarded/members/page", headers={"Cookie": "DUDA_SESSION_guarded=" + "0" * 32}).status == 401


@pytest.mark.parametrize("path, headers, status", [
    ("/members/page", {}, 401),
    ("/members/page", {"Accept": "text/html"}, 303),
    ("/tokens/", {"X-CSRF-Token": "0" * 64}, 403),
    ("/tokens/", {}, 403),  # neither a field nor a form
    ("/tokens/", {"Content-Type": "application/x-www-form-urlencoded"}, 403),  # of a client that got no token
    ("/tokens/", {"Content-Type": "multipart/form-data; boundary=b"}, 403),
    ("/limited5/", {}, 429),
])
def test_who_is_refused_sends_no_body(server, path, headers, status):
    """The head is enough to decide, so the answer comes before the body; which would go to the disk."""
    for _ in range(3):
        server.get("/guarded/limited5/")
    with server.connect() as connection:
        connection.send(http.request("/guarded" + path, "POST", headers=[*headers.items(), ("Content-Length", str(8 << 20))]))
        assert connection.response("POST").status == status


def test_a_body_that_is_no_form_is_not_read_for_a_token(server):
    ann = Browser(server)
    ann.token()
    cookie = ("Cookie", "DUDA_CSRF_guarded=" + ann.cookies["DUDA_CSRF_guarded"])
    with server.connect() as connection:
        headers = [cookie, ("Content-Type", "application/octet-stream"), ("Content-Length", str(8 << 20))]
        connection.send(http.request("/guarded/tokens/", "POST", headers=headers))
        assert connection.response("POST").status == 403


def test_a_body_is_read_behind_the_guards(server):
    ann = logged_in(server)
    token = ann.token()
    for size in (1, 100, 3 << 20):
        assert ann.ask("/tokens/", "POST", {"X-CSRF-Token": token}, body=b"x" * size).status == 200
        assert ann.ask("/members/page", "POST", body=b"x" * size).body == b"ok"
    assert ann.ask("/tokens/measured", "POST", {"X-CSRF-Token": token}, body=b"x" * 300000).body == b"300000 1"
    assert ann.post("/tokens/measured", token).body.endswith(b" 1")


@pytest.mark.parametrize("path, back", [
    ("/page", "/guarded/members/page"),
    ("/a%20b?c=d%26e&f", "/guarded/members/a%2520b%3Fc%3Dd%2526e%26f"),
    ("//evil.example/", "/guarded/members/evil.example/"),
])
def test_browsers_are_sent_to_the_page(server, path, back):
    answer = server.get("/guarded/members" + path, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
    assert answer.status == 303
    assert answer.header("Location") == "/guarded/form?from=members&next=" + back
    answer = server.request("/guarded/members" + path, "POST", headers={"Accept": "text/html"})
    assert answer.status == 303 and answer.header("Location") == "/guarded/form?from=members"


@pytest.mark.parametrize("accept", ["*/*", "application/json", "application/problem+json, text/html;q=0.5"])
def test_programs_are_not(server, accept):
    assert server.get("/guarded/members/page", headers={"Accept": accept}).status == 401


def test_a_path_too_long_to_come_back_to(server):
    answer = server.get("/guarded/members/" + "%20" * 1500, headers={"Accept": "text/html"})
    assert answer.status == 303 and answer.header("Location") == "/guarded/form?from=members"


# ---- mistakes


WRONG = """
#include "webservice.h"
DUDA_REGISTER("tests", "wrong");
int duda_main() { %s return 0; }
"""


@pytest.mark.parametrize("call, why", [
    ("guard->cors(NULL);", 'guard->cors(""): origins are needed'),
    ('guard->cors(&(struct duda_cors){.origins = "*", .credentials = 1});', '"*" is not for requests with credentials'),
    ('guard->cors(&(struct duda_cors){.origins = "https://a.example/"});', "an origin is like https://app.example, without a path"),
    ('guard->cors(&(struct duda_cors){.origins = "app.example"});', "an origin is like https://app.example, without a path"),
    ('guard->cors(&(struct duda_cors){.origins = "https://*.example"});', "an origin is like https://app.example, without a path"),
    ("guard->rate(0, 1);", "guard->rate(0, 1): each is 1 to 1000000"),
    ("guard->rate(1, 1000001);", "guard->rate(1, 1000001): each is 1 to 1000000"),
    ('guard->login("user", NULL);', "guard->login(): session->init() is needed before"),
    ('session->init("s"); guard->login(NULL, NULL);', 'guard->login(): a name, and a path such as "/login" are needed'),
    ('session->init("s"); guard->login("user", "login");', 'guard->login(): a name, and a path such as "/login" are needed'),
    ("guard->csrf(NULL);", "guard->csrf(): session->init() is needed before"),
    ('session->init("s"); guard->csrf(NULL); guard->csrf("user");', 'guard->csrf("user"): it was called with another name'),
])
def test_a_wrong_guard_stops_the_start(start, tmp_path, call, why):
    duda.build(tmp_path / "services", WRONG % call, name="wrong", level=3)
    server = start(wait=False, **duda.config(tmp_path / "services", "wrong"))
    assert server.expect_exit() != 0
    assert why in server.log() and "service 'wrong': guard->" in server.log()
