# SPDX-License-Identifier: Apache-2.0
"""Sessions of services in Redis: those of one server are those of the others, and no failure of Redis makes a client wait."""

import threading
import time

import pytest

from harness import duda, http, redis_server, secured
from harness.client import PATIENCE, eventually, free_port
from harness.liar import Liar

WITHIN = 50.0


@pytest.fixture(autouse=True)
def _has_package():
    duda.require_package("redis")


@pytest.fixture
def redis(tmp_path):
    with redis_server.Server(tmp_path) as server:
        yield server


@pytest.fixture
def serve(start, tmp_path):
    """Start a server whose sessions are in this Redis; more than one may be."""
    def run(url, service="obj_session", plugin=None):
        if not (tmp_path / "services" / f"{service}.duda").exists():
            duda.build(tmp_path / "services", service, level=1 if service == "obj_session" else 3)
        config = duda.config(tmp_path / "services", service, server="Workers 2\n",
                             duda={"SessionStore": url, "PackagesRoot": duda.packages()})
        return start(**secured.reaching(config, plugin) if plugin else config)

    return run


def url_of(redis, path=""):
    return f"redis://{redis.address}{path}"


def cookie_of(answer):
    lines = answer.all("Set-Cookie")
    return lines[-1].split(";")[0] if lines else None


def ask(server, path, cookie=None, service="obj_session/s"):
    return server.get(f"/{service}/{path}", headers={"Cookie": cookie} if cookie else {}, timeout=WITHIN)


def created(server, name="user", value="me", seconds=0, cookie=None):
    """The cookie of a session with this value. Redis may be slow on a busy machine, so 503 is tried again."""
    def succeeds():
        answers.append(ask(server, f"create/{name}/{value}/{seconds}", cookie))
        return answers[-1].status == 200

    answers = []
    assert eventually(succeeds, within=WITHIN)
    assert answers[-1].body == b"0"
    return cookie_of(answers[-1])


def becomes(server, path, cookie, body):
    return eventually(lambda: ask(server, path, cookie).body == body, within=WITHIN)


def keys(redis):
    return int(redis.ask("DBSIZE")[1:])


# ---- one session on several servers


def test_a_session_is_that_of_all_servers(serve, redis):
    one, other = serve(url_of(redis)), serve(url_of(redis))
    cookie = created(one, "user", "me")
    assert becomes(other, "get/user", cookie, b"me 0")
    assert becomes(other, "get/unknown", cookie, b"none -1")
    second = created(other, "cart", "apples", cookie=cookie)
    assert second != cookie
    assert becomes(one, "get/user", second, b"me 0") and becomes(one, "get/cart", second, b"apples 0")
#what was on its way finds what it had, for a while
    assert becomes(other, "get/cart", cookie, b"none -1") and becomes(other, "get/user", cookie, b"me 0")
    key = f"duda:session:/obj_session:{cookie.split('=')[1]}"
    assert 0 < int(redis.ask("TTL", key)[1:]) <= 30
    assert created(other, "user", "me", cookie=cookie) is None
    assert 0 < int(redis.ask("TTL", key)[1:]) <= 30
    assert becomes(other, "destroy/user", cookie, b"0")
    assert becomes(one, "get/user", second, b"none -1")


def test_who_planted_an_identity_does_not_say_who_has_logged_in(serve, redis):
    server = serve(url_of(redis))
    planted = created(server, "user", "mallory")
    own = created(server, "user", "alice", cookie=planted)
    assert own and own != planted
    assert created(server, "user", "mallory", cookie=planted) is None
    assert becomes(server, "get/user", own, b"alice 0") and becomes(server, "get/user", planted, b"mallory 0")


def test_the_same_value_leaves_the_identity(serve, redis):
    server = serve(url_of(redis))
    cookie = created(server, "visits", "1")
    assert created(server, "visits", "1", cookie=cookie) is None
    assert becomes(server, "get/visits", cookie, b"1 0")
    assert keys(redis) == 1


def test_guards_see_it_before_the_body(serve, redis):
    server = serve(url_of(redis), "guarded")

    def posted(path, body, **headers):
        return server.request("/guarded" + path, "POST", headers=headers, body=body, timeout=WITHIN)

    token = server.get("/guarded/tokens/", timeout=WITHIN)
    cookie = cookie_of(token)
    form = "application/x-www-form-urlencoded"
    answer = posted("/tokens/login", b"user=ann", **{"Cookie": cookie, "X-CSRF-Token": token.text, "Content-Type": form})
    assert answer.status == 200
    cookie = cookie_of(answer)
    for size in (1, 300000):
        assert posted("/members/page", b"x" * size, Cookie=cookie).body == b"ok"
        assert posted("/members/page", b"x" * size, Cookie=cookie[:-1]).status == 401
    with server.connect() as connection:
        headers = [("Cookie", cookie[:-32] + "0" * 32), ("Content-Length", "1000")]
        connection.send(http.request("/guarded/members/page", "POST", headers=headers))
        assert connection.response("POST").status == 401


def test_tokens_of_a_service_that_names_no_log_in(serve, redis):
    """The session that begins with the secret has its identity after that."""
    server = serve(url_of(redis), "nameless")

    def posted(path, token, cookie):
        headers = {"Cookie": cookie, "X-CSRF-Token": token, "Content-Type": "application/x-www-form-urlencoded"}
        return server.request("/nameless/tokens/" + path, "POST", headers=headers, body=b"user=ann", timeout=WITHIN)

    page = server.get("/nameless/tokens/", timeout=WITHIN)
    cookie = cookie_of(page)
    assert cookie.startswith("DUDA_SESSION_") and posted("", page.text, cookie).status == 200
    entered = posted("login", page.text, cookie)
    assert cookie_of(entered) != cookie
    assert posted("", page.text, cookie_of(entered)).status == 403
    assert posted("", entered.text, cookie_of(entered)).status == 200


def test_a_session_ends_on_all_servers(serve, redis):
    one, other = serve(url_of(redis)), serve(url_of(redis))
    assert eventually(lambda: ask(one, "twice").body == b"0", within=WITHIN)
    cookie = cookie_of(ask(one, "twice"))
    assert becomes(one, "destroy/one", cookie, b"0")
    assert becomes(other, "get/one", cookie, b"none -1") and becomes(other, "get/two", cookie, b"2 0")
    last = ask(other, "destroy/two", cookie)
    assert last.body == b"0" and cookie_of(last) == "DUDA_SESSION=deleted"
    assert becomes(one, "get/two", cookie, b"none -1")


def test_it_survives_the_server(serve, redis):
    server = serve(url_of(redis))
    cookie = created(server)
    server.kill()
    assert becomes(serve(url_of(redis)), "get/user", cookie, b"me 0")


def test_values_expire(serve, redis):
    server = serve(url_of(redis))
    cookie = created(server, seconds=2)
    assert becomes(server, "get/user", cookie, b"none -1")
    assert eventually(lambda: keys(redis) == 0, within=WITHIN)
    cookie = created(server)
    key = redis.text("RANDOMKEY")
    assert key == f"duda:session:/obj_session:{cookie.split('=')[1]}"
    assert 86000 < int(redis.ask("TTL", key)[1:]) <= 86400
    redis.ask("EXPIRE", key, 100)
    assert becomes(server, "get/user", cookie, b"me 0")
    assert eventually(lambda: int(redis.ask("TTL", key)[1:]) > 86000, within=WITHIN)


def test_a_password_a_user_and_a_database(serve, tmp_path):
    with redis_server.Server(tmp_path, "--requirepass", "s:/@%") as redis:
        server = serve(f"redis://default:s%3a%2F%40%25@{redis.address}/3")
        cookie = created(server)
        assert becomes(server, "get/user", cookie, b"me 0")
        assert "db3:keys=1" in redis.text("INFO", "keyspace")


@pytest.mark.parametrize("planted", [b"", b"1", b"x me", b"0", b"99999999999999999999 me", b"1 me", b"0 m\0e"])
def test_fields_that_are_none(serve, redis, planted):
    server = serve(url_of(redis))
    identity = "0123456789abcdef" * 2
    redis.ask("HSET", f"duda:session:/obj_session:{identity}", "user", planted)
    redis.ask("HSET", f"duda:session:/obj_session:{identity}", "other", "0 fine")
    assert becomes(server, "get/other", f"DUDA_SESSION={identity}", b"fine 0")
    assert becomes(server, "get/user", f"DUDA_SESSION={identity}", b"none -1")


def test_unusual_moments(serve, redis):
    server = serve(url_of(redis), "sessions_late")

    def late(path, cookie=None):
        return ask(server, path, cookie, service="sessions_late")

    assert late("begun").body == b"-1"
    answer = late("streamed")
    assert answer.body == b"0"
    cookie = cookie_of(answer)
    assert eventually(lambda: late("waited", cookie).body == b"0 0", within=WITHIN)
    assert eventually(lambda: keys(redis) >= 1, within=WITHIN)
    cookie = cookie_of(late("streamed"))
    assert eventually(lambda: late("both", cookie).body.endswith(b"0 -1"), within=WITHIN)
    assert eventually(lambda: late("full").body == b"64 -1", within=WITHIN)


# ---- requests that began earlier


RACED = """
/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include <stdlib.h>

DUDA_REGISTER("raced", "sessions of requests that overlap");

static void keep(duda_request_t *dr)
{
    const char *expires = query->get(dr, "expires");

    response->send(dr, 200, "text/plain", "%d",
                   session->create(dr, query->get(dr, "name"), query->get(dr, "value"),
                                   expires ? atoi(expires) : 0));
}

static volatile int may_end;

/* An answer that has begun sets a value, and sets it again when it may end. */
static void set_again(void *arg)
{
    duda_request_t *dr = arg;

    if (!may_end) {
        timer->after(100, set_again, dr);
        return;
    }
    response->cont(dr);
    response->printf(dr, "%d", session->create(dr, "files", "2", 0));
    response->finalize(dr, NULL);
}

static void stream(duda_request_t *dr)
{
    int result = session->create(dr, "begun", "1", 0);

    may_end = 0;
    response->http_status(dr, 200);
    response->send_headers(dr);
    result += session->create(dr, "files", "1", 0);
    response->printf(dr, "%d", result);
    response->flush(dr);
    response->wait(dr);
    timer->after(100, set_again, dr);
}

static void end_stream(duda_request_t *dr)
{
    may_end = 1;
    response->send(dr, 200, "text/plain", "0");
}

static void show(duda_request_t *dr)
{
    char *value = session->get(dr, query->get(dr, "name"));

    response->send(dr, 200, "text/plain", "%s", value ? value : "-");
    mem->free(value);
}

static void drop(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d", session->destroy(dr, query->get(dr, "name")));
}

static void members(void)
{
    guard->login("user", NULL);
    router->post("/keep", keep);
}

int duda_main()
{
    session->init("raced");
    router->post("/keep", keep);
    router->get("/show", show);
    router->get("/drop", drop);
    router->get("/stream", stream);
    router->get("/end", end_stream);
    router->group("/members", members);
    return 0;
}
"""


@pytest.fixture
def raced(serve, redis, tmp_path):
    duda.build(tmp_path / "services", RACED, name="raced", level=3)
    return serve(url_of(redis), "raced")


def told(server, path, cookie=None, method="GET", body=b""):
    answer = server.request(f"/raced/{path}", method, headers={"Cookie": cookie} if cookie else {}, body=body, timeout=WITHIN)
    assert answer.status == 200
    return answer


def kept(server, name, value, cookie=None):
    """The cookie of the session after a request that sets this value."""
    return cookie_of(told(server, f"keep?name={name}&value={value}", cookie, "POST", b"x")) or cookie


def value_in(server, name, cookie):
    return told(server, f"show?name={name}", cookie).text


def key_of(cookie):
    """Where Redis has the session."""
    return "duda:session:/raced:" + cookie.split("=")[1]


class Upload:
    """A request that sets a value. Its guard has seen the session, and its body is still to come."""

    def __init__(self, server, redis, name, value, cookie):
        def fetched():
            line = [line for line in redis.text("INFO", "commandstats").splitlines() if line.startswith("cmdstat_hgetall:")]
            return int(line[0].split("calls=")[1].split(",")[0]) if line else 0

        before = fetched()
        self._connection = server.connect()
        headers = [("Cookie", cookie), ("Content-Length", "1")]
        self._connection.send(http.request(f"/raced/members/keep?name={name}&value={value}", "POST", headers=headers))
        assert eventually(lambda: fetched() > before, within=WITHIN)

    def end(self):
        """The cookie that its answer has; None: none."""
        with self._connection:
            self._connection.send(b"x")
            answer = self._connection.response("POST")
            assert answer.status == 200 and answer.body == b"0"
            return cookie_of(answer)


# The same value, another one that is no log-in, and one that gives the session a new identity.
@pytest.mark.parametrize("name,value", [("user", "ann"), ("cart", "2"), ("files", "1")])
def test_an_upload_does_not_undo_a_log_out(raced, redis, name, value):
    cookie = kept(raced, "user", "ann", kept(raced, "cart", "1"))
    upload = Upload(raced, redis, name, value, cookie)
    assert told(raced, "drop?name=user", cookie).body == b"0"
    after = upload.end() or cookie
    assert [value_in(raced, "user", each) for each in (cookie, after)] == ["-", "-"]
    assert value_in(raced, "cart", after) == ("2" if name == "cart" else "1")
    assert value_in(raced, name, after) == ("-" if name == "user" else value)


def test_an_upload_does_not_bring_a_session_back_that_has_ended(raced, redis):
    cookie = kept(raced, "user", "ann")
    upload = Upload(raced, redis, "user", "ann", cookie)
    assert told(raced, "drop?name=user", cookie).body == b"0"
    upload.end()
    assert value_in(raced, "user", cookie) == "-" and keys(redis) == 0


def test_an_upload_leaves_what_others_have_set(raced, redis):
    cookie = kept(raced, "cart", "1", kept(raced, "visits", "1", kept(raced, "user", "ann")))
    upload = Upload(raced, redis, "visits", "2", cookie)
    assert kept(raced, "cart", "5", cookie) == cookie
    upload.end()
    assert value_in(raced, "cart", cookie) == "5" and value_in(raced, "visits", cookie) == "2"
    upload = Upload(raced, redis, "files", "1", cookie)
    assert kept(raced, "cart", "6", cookie) == cookie
    after = upload.end()
    assert [value_in(raced, each, after) for each in ("cart", "visits", "files")] == ["6", "2", "1"]


def test_an_upload_from_a_replaced_identity_does_not_undo_a_log_out(raced, redis):
    cookie = kept(raced, "user", "ann")
    after = kept(raced, "cart", "1", cookie)
    upload = Upload(raced, redis, "files", "1", cookie)
    assert told(raced, "drop?name=user", after).body == b"0"
    assert value_in(raced, "user", upload.end()) == "-"


@pytest.mark.parametrize("where", [0, 1, 2, 3])
def test_a_log_out_reaches_all_identities(raced, redis, where):
    cookies = [kept(raced, "user", "ann")]
    for name in ("a", "b", "c"):
        cookies.append(kept(raced, name, "1", cookies[-1]))
    assert len(set(cookies)) == 4
    assert told(raced, "drop?name=user", cookies[where]).body == b"0"
    assert [value_in(raced, "user", each) for each in cookies] == ["-"] * 4


@pytest.mark.parametrize("has_gone", [False, True])
@pytest.mark.parametrize("where", [0, 1, 2])
def test_a_log_out_reaches_identities_that_were_begun_side_by_side(raced, redis, where, has_gone):
    cookie = kept(raced, "cart", "1", kept(raced, "user", "ann"))
    uploads = [Upload(raced, redis, "user", "eve", cookie) for _ in range(3)]
    cookies = [upload.end() for upload in uploads]
    assert len({cookie, *cookies}) == 4
    if has_gone:
        assert redis.ask("DEL", key_of(cookie)) == b":1\r\n"
    assert told(raced, "drop?name=user", cookies[where]).status == 200
    assert [value_in(raced, "user", each) for each in cookies] == ["-"] * 3
    assert [value_in(raced, "cart", each) for each in cookies] == ["1"] * 3
    for each in cookies:
        assert told(raced, "drop?name=cart", each).status == 200
    assert [each for each in cookies if redis.ask("EXISTS", key_of(each)) != b":0\r\n"] == []


def test_an_answer_that_has_begun_does_not_undo_a_log_out(raced, redis):
    with raced.connect() as connection:
        connection.send(http.request("/raced/stream"))
        cookie = cookie_of(http.read_head(connection.stream))
        assert [connection.stream.line() for _ in range(2)] == [b"1", b"0"]
        assert eventually(lambda: value_in(raced, "files", cookie) == "1", within=WITHIN)
        assert told(raced, "drop?name=files", cookie).body == b"0"
        assert told(raced, "end").status == 200
        assert [connection.stream.line() for _ in range(3)] == [b"1", b"0", b"0"]
    assert [value_in(raced, name, cookie) for name in ("files", "begun")] == ["-", "1"]


def test_an_upload_takes_the_longer_time_that_others_have_set(raced, redis):
    soon, late = int(time.time()) + 600, int(time.time()) + 6000
    cookie = cookie_of(told(raced, f"keep?name=user&value=ann&expires={soon}", None, "POST", b"x"))
    upload = Upload(raced, redis, "files", "1", cookie)
    assert told(raced, f"keep?name=user&value=ann&expires={late}", cookie, "POST", b"x").body == b"0"
    assert redis.text("HGET", key_of(upload.end()), "user") == f"{late} ann"


def test_who_leaves_while_the_identity_is_new(raced, redis):
    cookie = kept(raced, "user", "ann")
    after = kept(raced, "cart", "1", cookie)
    for name in ("user", "cart"):
        assert told(raced, f"drop?name={name}", after).body == b"0"
    assert eventually(lambda: redis.ask("EXISTS", key_of(after)) == b":0\r\n", within=WITHIN)


# ---- failures


def timed(server, path, cookie=None):
    """The status, which comes soon whatever happens."""
    begin = time.monotonic()
    status = ask(server, path, cookie).status
    assert time.monotonic() - begin < PATIENCE
    return status


def test_redis_that_is_killed_and_comes_back(serve, tmp_path):
    with redis_server.Server(tmp_path, keeps=True) as redis:
        server = serve(url_of(redis))
        cookie = created(server)
        redis.kill()
        for _ in range(3):
            assert timed(server, "get/user", cookie) == 503
            assert timed(server, "create/a/b/0") == 503
            assert timed(server, "get/user") == 200  # has no session to fetch
        redis.start()
        assert becomes(server, "get/user", cookie, b"me 0")
        log = server.log()
        assert "sessions fail: " in log and "sessions work again" in log
        assert log.count("sessions fail: ") <= 4


def test_redis_that_is_paused(serve, redis):
    server = serve(url_of(redis))
    cookie = created(server)
    redis.pause()
    assert timed(server, "get/user", cookie) == 503
    assert timed(server, "create/a/b/0") == 503
    redis.go_on()
    assert becomes(server, "get/user", cookie, b"me 0")


def test_one_that_waits_harms_no_other(serve, redis):
    server = serve(url_of(redis))
    cookie = created(server)
    redis.pause()
    threads = [threading.Thread(target=ask, args=(server, "get/user", cookie)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        assert ask(server, "get/user").body == b"none -1"
    redis.go_on()
    for thread in threads:
        thread.join(WITHIN)


def test_clients_that_leave_while_it_is_fetched(serve, redis):
    server = serve(url_of(redis))
    cookie = created(server)
    redis.pause()
    for path in (f"get/user HTTP/1.1\r\nCookie: {cookie}", "create/a/b/0 HTTP/1.1"):
        for _ in range(10):
            with server.connect() as connection:
                connection.send(f"GET /obj_session/s/{path}\r\nHost: a\r\n\r\n".encode())
    redis.go_on()
    assert becomes(server, "get/user", cookie, b"me 0")


def test_redis_that_is_full(serve, redis):
    server = serve(url_of(redis))
    cookie = created(server)
    redis.ask("CONFIG", "SET", "maxmemory", "1")
    assert timed(server, "create/a/b/0") == 503
    assert timed(server, "create/a/b/0", cookie) == 503
    assert becomes(server, "get/user", cookie, b"me 0")
    assert "OOM" in server.log()
    redis.ask("CONFIG", "SET", "maxmemory", "0")
    created(server, cookie=cookie)


def test_redis_that_refuses(serve, tmp_path):
    with redis_server.Server(tmp_path, "--requirepass", "secret") as redis:
        server = serve(url_of(redis))
        assert timed(server, "create/a/b/0") == 503
        assert "NOAUTH" in server.log()


@pytest.mark.parametrize("answer", [b"", b"*1\r\n:1\r\n", b"+OK\r\n", b"$-1\r\n", b"HTTP/1.1 400 \r\n\r\n", b"*-1\r\n*3\r\n"])
def test_a_server_that_is_none(serve, answer):
    with Liar(answer, closes=answer == b"") as liar:
        server = serve(f"redis://{liar.address}")
        assert timed(server, "get/user", "DUDA_SESSION=" + "0" * 32) in (200, 503)
        assert ask(server, "get/user").status == 200


def test_redis_that_is_not_there_at_the_start(serve, tmp_path):
    port = free_port()
    server = serve(f"redis://localhost:{port}")
    assert timed(server, "create/a/b/0") == 503
    assert ask(server, "get/user").status == 200


@pytest.mark.parametrize("plugin", ["tls", "mbedtls"])
def test_redis_over_tls(serve, tmp_path, plugin):
    if not secured.executable.plugin(plugin):
        pytest.skip("this build has no such plugin")
    with redis_server.Secure(tmp_path) as redis:
        one, two = (serve(f"rediss://localhost:{redis.port}/3", plugin=plugin) for _ in range(2))
        cookie = created(one)
        assert becomes(two, "get/user", cookie, b"me 0")
        assert "db3" in redis.text("INFO", "keyspace")


def test_redis_over_tls_without_a_plugin(serve):
    server = serve("rediss://localhost")
    assert server.get("/obj_session/s/get/user").status == 404
    assert "TLS needs the plugin tls or mbedtls" in server.log()


# ---- configuration


@pytest.mark.parametrize("url,why", [
    ("redis://", "it names no host"),
    ("redis://:6379", "it names no host"),
    ("redis://a:0", "a port is a number up to 65535"),
    ("redis://a:65536", "a port is a number up to 65535"),
    ("redis://a:1:2", "a port is a number up to 65535"),
    ("redis://me@a:1", "a user has a password"),
    ("redis://me:@a:1", "a password is not empty"),
    ("redis://:secret%@a:1", "with % as %25"),
    ("redis://a:1/x", "a database is a number"),
    ("redis://[::1", "stands in brackets"),
    ("valkey://a", "none of memory, sqlite: with an absolute path, and redis://HOST:PORT"),
])
def test_urls_that_are_none(start, tmp_path, url, why):
    server = start(wait=False, **duda.config(tmp_path, duda={"SessionStore": url}))
    assert server.expect_exit() != 0
    assert why in server.log() and "secret" not in server.log()


def test_a_host_that_does_not_exist(serve):
    server = serve("redis://no.such.host.invalid:1")
    assert timed(server, "create/a/b/0") == 503
    assert "no.such.host.invalid:1 is left out: " in server.log()
