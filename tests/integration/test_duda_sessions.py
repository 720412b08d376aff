# SPDX-License-Identifier: Apache-2.0
"""Sessions of services: their cookies, their end, and what is theirs alone."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import certificates, duda, executable, secured
from harness.client import eventually
from harness.config import section

ID = "[0-9a-f]{32}"


@pytest.fixture(scope="module")
def server(start_shared, tmp_path_factory):
    services = tmp_path_factory.mktemp("services")
    duda.build(services, "obj_session")
    duda.build(services, "obj_session", name="other")
    return start_shared(**duda.config(services, "obj_session", "other", server="Workers 3\n"))


def cookie_of(answer):
    """The cookie that a browser would send now; None: it has none."""
    lines = answer.all("Set-Cookie")
    return lines[-1].split(";")[0] if lines else None


def ask(server, path, cookie=None, service="obj_session"):
    return server.get(f"/{service}/s/{path}", headers={"Cookie": cookie} if cookie else {})


def created(server, name="user", value="me", seconds=0, cookie=None):
    answer = ask(server, f"create/{name}/{value}/{seconds}", cookie)
    assert answer.body == b"0"
    return answer


def test_a_value_comes_back_on_every_worker(server):
    cookie = cookie_of(created(server))
    for _ in range(20):
        assert ask(server, "get/user", cookie).body == b"me 0"
    assert ask(server, "get/unknown", cookie).body == b"none -1"
    assert ask(server, "get/user").body == b"none -1"


def test_the_cookie_of_a_browser_session(server):
    line = created(server).header("Set-Cookie")
    assert re.fullmatch(f"DUDA_SESSION={ID}; path=/obj_session; HttpOnly; SameSite=Lax", line)


def test_the_cookie_of_a_session_with_an_end(server):
    line = created(server, seconds=3600).header("Set-Cookie")
    date = r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT"
    assert re.fullmatch(f"DUDA_SESSION={ID}; path=/obj_session; expires={date}; HttpOnly; SameSite=Lax", line)


def test_identities_differ(server):
    assert len({cookie_of(created(server)) for _ in range(50)}) == 50


def test_a_value_expires_on_the_server(server):
    cookie = cookie_of(created(server, seconds=2))
    assert eventually(lambda: ask(server, "get/user", cookie).body == b"none -1")


def test_a_new_name_in_a_session_renews_its_identity(server):
    old = cookie_of(created(server, "cart", "apples"))
    new = cookie_of(created(server, "user", "me", cookie=old))
    assert new != old
    assert ask(server, "get/cart", new).body == b"apples 0" and ask(server, "get/user", new).body == b"me 0"
    # what was on its way still finds its session, but whoever has planted the identity is not logged in
    assert ask(server, "get/cart", old).body == b"apples 0" and ask(server, "get/user", old).body == b"none -1"


def test_without_guards_a_new_value_of_a_name_renews_the_identity(server):
    """Any name may say there who has logged in: the identity of somebody else's log-in must not show this one."""
    planted = cookie_of(created(server, "user", "mallory"))
    own = cookie_of(created(server, "user", "alice", cookie=planted))
    assert own and own != planted
    assert ask(server, "get/user", own).body == b"alice 0" and ask(server, "get/user", planted).body == b"mallory 0"
    assert created(server, "user", "mallory", cookie=planted).header("Set-Cookie") is None
    assert ask(server, "get/user", own).body == b"alice 0"


def test_the_same_value_leaves_the_identity(server):
    cookie = cookie_of(created(server, "visits", "1"))
    assert created(server, "visits", "1", cookie=cookie).header("Set-Cookie") is None
    longer = created(server, "visits", "1", seconds=3600, cookie=cookie)
    assert cookie_of(longer) == cookie and "expires=" in longer.header("Set-Cookie")


def test_parallel_requests_of_a_browser_keep_its_session(server):
    """Both are sent with one cookie; the browser goes on with that of the answer which comes last, or the one that it has."""
    for number in range(10):
        cookie = cookie_of(created(server, "user", "me"))
        with ThreadPoolExecutor(2) as pool:
            names = ["visits", "visits"] if number % 2 else ["one", "two"]
            answers = list(pool.map(lambda name, cookie=cookie: created(server, name, "1", cookie=cookie), names))
        for answer in answers:
            assert ask(server, "get/user", cookie_of(answer) or cookie).body == b"me 0"


def test_an_invented_identity_is_not_taken(server):
    invented = "DUDA_SESSION=" + "0" * 32
    answer = created(server, cookie=invented)
    assert cookie_of(answer) != invented
    assert ask(server, "get/user", invented).body == b"none -1"


@pytest.mark.parametrize("value", ["", "x", "../../etc/passwd", "A" * 32, "0" * 31, "0" * 33, "%00" * 16])
def test_what_is_no_identity_is_no_session(server, value):
    assert ask(server, "get/user", f"DUDA_SESSION={value}").body == b"none -1"


def test_two_values_in_one_answer_are_one_session(server):
    answer = ask(server, "twice")
    assert answer.body == b"0" and len(answer.all("Set-Cookie")) == 1
    assert ask(server, "get/one", cookie_of(answer)).body == b"1 0"
    assert ask(server, "get/two", cookie_of(answer)).body == b"2 0"


def test_a_session_ends_with_its_last_value(server):
    cookie = cookie_of(ask(server, "twice"))
    first = ask(server, "destroy/one", cookie)
    assert first.body == b"0" and cookie_of(first) is None
    last = ask(server, "destroy/two", cookie)
    assert last.body == b"0" and cookie_of(last) == "DUDA_SESSION=deleted"
    assert "expires=Fri, 12 Sep 1980 11:43:00 GMT" in last.header("Set-Cookie")
    assert ask(server, "destroy/two", cookie).body == b"-1"
    assert ask(server, "get/one", cookie).body == b"none -1"


def test_services_have_stores_of_their_own(server):
    cookie = cookie_of(created(server))
    assert ask(server, "get/user", cookie, service="other").body == b"none -1"


def test_wrong_arguments(server):
    assert ask(server, "wrong").body == b"0"


def encrypted(start, tmp_path, service):
    if not executable.plugin("tls"):
        pytest.skip("this build has no such plugin")
    duda.build(tmp_path / "services", "obj_session")
    config = duda.config(tmp_path / "services", service,
                         extra={"plugins/tls/tls.conf": section("TLS", certificates.issue().lines())})
    config["extra"]["plugins.load"] += "    Load tls\n"
    return start(server="Listen 127.0.0.1:0 tls\n", **config)


def test_over_tls_the_cookie_is_for_encrypted_connections_alone(start, tmp_path):
    answer = secured.ask(encrypted(start, tmp_path, "obj_session"), "/obj_session/s/create/user/me/0")
    assert answer.header("Set-Cookie").endswith("; HttpOnly; SameSite=Lax; Secure")
    assert answer.header("Set-Cookie").startswith("DUDA_SESSION=")


def test_over_tls_the_cookie_of_a_root_service_is_for_its_host_alone(start, tmp_path):
    server = encrypted(start, tmp_path, duda.service("obj_session", Root="on"))
    line = secured.ask(server, "/s/create/user/me/0").header("Set-Cookie")
    assert re.fullmatch(f"__Host-DUDA_SESSION_obj_session={ID}; path=/; HttpOnly; SameSite=Lax; Secure", line)
    cookie = line.split(";")[0]
    assert secured.ask(server, "/s/get/user", headers={"Cookie": cookie}).body == b"me 0"
    planted = cookie.replace("__Host-", "")
    assert secured.ask(server, "/s/get/user", headers={"Cookie": planted}).body == b"none -1"


def stored(tmp_path, store):
    duda.build(tmp_path / "services", "obj_session")
    duda.build(tmp_path / "services", "obj_session", name="other")
    return duda.config(tmp_path / "services", "obj_session", "other", duda={"SessionStore": store})


@pytest.fixture
def sqlite_store(tmp_path):
    duda.require_package("sqlite")
    return tmp_path / "sessions.db"


def test_sessions_survive_in_a_file(start, tmp_path, sqlite_store):
    config = stored(tmp_path, f"sqlite:{sqlite_store}")
    server = start(**config)
    kept = cookie_of(created(server, "user", "me"))
    renewed = cookie_of(created(server, "cart", "apples", cookie=kept))
    ended = cookie_of(created(server))
    short = cookie_of(created(server, seconds=1))
    assert ask(server, "destroy/user", ended).body == b"0"
    assert sqlite_store.stat().st_mode & 0o777 == 0o600
    server.kill()
    server = start(**config)
    assert ask(server, "get/user", renewed).body == b"me 0" and ask(server, "get/cart", renewed).body == b"apples 0"
    assert ask(server, "get/user", renewed, service="other").body == b"none -1"
    for cookie in (kept, ended):  # what was replaced does not survive
        assert ask(server, "get/user", cookie).body == b"none -1"
    assert eventually(lambda: ask(server, "get/user", short).body == b"none -1")


@pytest.mark.parametrize("make", ["missing", "text"])
def test_a_store_that_cannot_be_opened(start, tmp_path, sqlite_store, make):
    path = tmp_path / "missing" / "x.db" if make == "missing" else sqlite_store
    if make == "text":
        path.write_text("no database" * 100)
    server = start(**stored(tmp_path, f"sqlite:{path}"))
    assert server.get("/obj_session/s/create/a/b/0").status == 404
    assert re.search(f"SessionStore sqlite:{path}: ", server.log())
    if make == "text":
        assert path.read_text() == "no database" * 100
