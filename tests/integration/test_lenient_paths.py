# SPDX-License-Identifier: Apache-2.0
"""Rules before an application hold however it reads a path."""

import base64
import hashlib

import pytest

from harness import process
from harness.backend import Backend, servers
from harness.config import section

pytestmark = pytest.mark.skipif(not process.plugin("auth"), reason="auth needs crypt_r, which is not there for this build")
SECRET = "{SHA1}" + base64.b64encode(hashlib.sha1(b"secret").digest()).decode()
BELOW_ADMIN = ["/admin;v=1/x", "/a/..;/admin/x", "/a/..;x=y/admin/x", "/a/..%5cadmin/x", "/admin%20/x",
               "/admin%09/x", "/admin./x", "/admin..%20./x", "/%2e%2e%3b/admin", "/admin;", "/admin.", "/admin%5c",
               "/a/..%20/admin/x", "/ADMIN;v=1/x", "/admin;%5c..%5cx/y", "/admin.;v=1/x", "/;/admin/x", "/a/..;/.;/admin",
               "/admin%3bv=1/x", "/%5cadmin/x"]
ELSEWHERE = ["/administrator;v=1/x", "/a;v=1/x", "/a/admin;x", "/x./y%20/z", "/a%5cadmin", "/admi.n"]


def basic(user):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:secret".encode()).decode()}


def configured(tmp_path, backend, auth=("/admin",), host="", rules="", handlers=""):
    places = ""
    for number, place in enumerate(auth):
        (tmp_path / f"users{number}").write_text(f"user{number}:{SECRET}\n")
        places += section("AUTH", f"Location {place}\nUsers {tmp_path}/users{number}")
    places += section("HANDLERS", handlers) if handlers else ""
    entry = section("PROXY_ENTRY", f"Match ^/\n{servers([backend])}")
    plugins = [process.plugin(name) for name in ("auth", "mandril", "proxy_reverse")]
    return {
        "plugins.load": section("PLUGINS", "\n".join(f"Load {plugin}" for plugin in plugins)),
        "plugins/mandril/mandril.conf": section("RULES", rules) if rules else "",
        "sites/default": section("HOST", f"DocumentRoot {tmp_path}\n{host}") + places + entry,
    }


@pytest.fixture
def backend():
    with Backend(each=lambda conn, request: conn.answer(request.target.encode())) as made:
        yield made


def test_auth(start, tmp_path, backend):
    server = start(extra=configured(tmp_path, backend))
    for target in BELOW_ADMIN:
        assert server.get(target).status == 401, target
        answer = server.get(target, headers=basic("user0"))
        assert answer.status == 200, target
    for target in ELSEWHERE:
        assert server.get(target).status == 200, target


def test_mandril(start, tmp_path, backend):
    server = start(extra=configured(tmp_path, backend, auth=(), rules="Deny_URL /admin/"))
    for target in BELOW_ADMIN:
        if not target.endswith(("admin;", "admin.", "admin")):  # no slash behind it
            assert server.get(target).status == 403, target
    for target in ELSEWHERE:
        assert server.get(target).status == 200, target
    server.wait_for_log("request refused by=.*mandril.conf")


def test_a_plugin_that_is_limited_to_paths(start, tmp_path, backend):
    """Match says where the plugin acts: there, too, however the path is read."""
    server = start(extra=configured(tmp_path, backend, rules="Deny_URL /denied/",
                                    handlers="Match ^/admin(/|$) auth\nMatch ^/denied/ mandril"))
    for target in BELOW_ADMIN:
        assert server.get(target).status == 401, target
    for target in ELSEWHERE:
        assert server.get(target).status == 200, target
    for target in ("/denied/x", "/denied;/x", "/a/..;/denied/x"):
        assert server.get(target).status == 403, target
    assert server.get("/a/denied/x").status == 200


def test_a_path_of_two_places_is_refused(start, tmp_path, backend):
    server = start(extra=configured(tmp_path, backend, auth=("/admin", "/a")))
    for user in ("user0", "user1"):
        assert server.get("/a/..;/admin/x", headers=basic(user)).status == 403
        assert server.get("/admin/..;/a/x", headers=basic(user)).status == 403
    assert server.get("/admin/;x", headers=basic("user0")).status == 200
    assert server.get("/admin/x;v=1/..;/y", headers=basic("user0")).status == 200


def test_a_site_may_turn_it_off(start, tmp_path, backend):
    server = start(extra=configured(tmp_path, backend, host="LenientPaths off", rules="Deny_URL /denied/"))
    assert server.get("/admin/x").status == 401
    assert server.get("/admin;v=1/x").text == "/admin;v=1/x"
    assert server.get("/denied;/x").status == 200
    assert server.get("/denied/x").status == 403


def test_the_longest_odd_path(start, tmp_path, backend):
    """Every reading of it is looked at, and it costs no more than a few of its lengths."""
    server = start(extra=configured(tmp_path, backend, auth=(), rules="Deny_URL /admin/"))
    target = "/" + "a;/..%5c./%20/" * 280
    assert len(target) < 4095
    assert server.get(target).status == 200
    assert server.get(target + "admin;/x").status == 403
