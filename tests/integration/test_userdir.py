# SPDX-License-Identifier: Apache-2.0
"""
/~user/ leads to a directory in the user's home, only when UserDir is set, and never for uid 0.

The users are those of a passwd file that is mounted over /etc/passwd for the server alone.
"""

import os
import shutil
import time

import pytest

from harness import tools
from harness.client import eventually

USERS = ["alice", "bob", "carol", "toor"]
MANY = 150  # more than any table of them has room for


def uid_of(user):
    return {"toor": 0, "alice": 4000, "bob": 4001, "carol": 4002}[user]


def give(folder, uid):
    for path in (folder, *folder.rglob("*")):
        os.lchown(path, uid, 4000)


@pytest.fixture(scope="module")
def passwd(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    lines = ["root:x:0:0::/root:/bin/sh", f"toor:x:0:0::{home}/toor:/bin/sh"]
    lines += [f"{name}:x:{4000 + number}:4000::{home}/{name}:/bin/sh" for number, name in enumerate(["alice", "bob", "carol"])]
    lines += [f"many{number}:x:4000:4000::{home}/alice:/bin/sh" for number in range(MANY)]
    lines += ["nobody:x:65534:65534::/nonexistent:/bin/false"]
    for user in USERS:
        public = home / user / "public_html"
        public.mkdir(parents=True)
        (public / "index.html").write_text(f"home of {user}")
        (public / ".hidden").write_text("private")
        (home / user / "private.txt").write_text("private")
        give(home / user, uid_of(user))
    (home / "bob" / "public_html" / "link").symlink_to(home / "bob" / "private.txt")
    passwd = home / "passwd"
    passwd.write_text("\n".join(lines) + "\n")
    return passwd


@pytest.fixture(scope="module")
def start_with_users(start_shared, passwd):
    assert os.geteuid() == 0, "this test mounts a passwd file of its own: run it as root"
    wrapper = ["unshare", "--mount", "sh", "-c", f'mount --bind {passwd} /etc/passwd && exec "$@"', "sh"]

    def start_with_users(more=(), **kwargs):
        return start_shared(wrapper=[*wrapper, *more], files={"index.html": "site"}, **kwargs)

    return start_with_users


@pytest.fixture(scope="module")
def server(start_with_users):
    return start_with_users(server="UserDir public_html")


@pytest.mark.parametrize("target", ["/~alice/", "/~alice/index.html", "/%7Ealice/", "/~bob/", "/~alice/../~bob/"])
def test_serves_the_home_of_a_user(server, target):
    assert server.get(target).text.startswith("home of ")


def test_each_user_has_an_own_root(server):
    assert server.get("/~alice/").text == "home of alice"
    assert server.get("/~bob/").text == "home of bob"
    assert server.get("/").text == "site"


@pytest.mark.parametrize("user", ["toor", "root"])
def test_never_serves_uid_0(server, user):
    response = server.get(f"/~{user}/")
    assert response.status in (403, 404)
    assert "home of" not in response.text


@pytest.mark.parametrize("target", ["/~nobody/", "/~nosuchuser/", "/~/", "/~alice:/", "/~" + "a" * 300 + "/", "/~../", "/~./"])
def test_other_names_are_not_found(server, target):
    assert server.get(target).status in (403, 404)


@pytest.mark.parametrize("target", ["/~alice/../private.txt", "/~alice/%2e%2e/private.txt", "/~alice/.hidden",
                                    "/~alice/../../alice/private.txt", "/~bob/link", "/~alice%2f..%2fprivate.txt"])
def test_nothing_outside_of_the_user_directory(server, target):
    response = server.get(target)
    assert response.status in (403, 404)
    assert "private" != response.text


def test_without_slash_redirects_to_it(server):
    response = server.get("/~alice?q=1")
    assert response.status == 301
    assert response.header("Location").endswith("/~alice/?q=1")


def test_off_by_default(start_with_users):
    server = start_with_users()
    assert server.get("/~alice/").status == 404


def test_a_tilde_is_an_ordinary_letter_when_off(start_with_users):
    server = start_with_users()
    (server.root / "~alice").mkdir()
    (server.root / "~alice" / "index.html").write_text("an ordinary directory")
    assert server.get("/~alice/").text == "an ordinary directory"


def test_an_index_that_a_handler_owns_is_not_sent_as_a_file(start_with_users, passwd):
    """It is routed by the name that clients use, /~user included."""
    public = passwd.parent / "bob" / "public_html" / "app"
    public.mkdir()
    (public / "index.php").write_text("the source")
    server = start_with_users(server="UserDir public_html\nIndexfile index.php", handlers="Match ^/~bob/.*\\.php$ echo")
    response = server.get("/~bob/app/")
    assert "the source" not in response.text
    assert response.text.startswith("GET /~bob/app/ ")


@pytest.mark.parametrize("fdt", ["on", "off"])
def test_every_one_of_many_users_is_served(start_with_users, fdt):
    """Whoever asks for many names may not shut the others out."""
    server = start_with_users(server=f"UserDir public_html\nWorkers 1\nFDT {fdt}")
    before = server.open_descriptors()
    with server.connect() as connection:
        for number in [*range(MANY), *range(0, MANY, 7)]:
            assert connection.request(f"/~many{number}/").text == "home of alice"
            assert connection.request(f"/~many{number}/nothing").status == 404
    assert server.open_descriptors() < before + MANY


@pytest.fixture
def public(passwd):
    """The folder of carol, which a test puts something in the place of."""
    folder = passwd.parent / "carol" / "public_html"
    aside = folder.with_name("aside")
    folder.rename(aside)
    yield folder
    if folder.is_symlink():
        folder.unlink()
    else:
        shutil.rmtree(folder)
    aside.rename(folder)


@pytest.mark.parametrize("symlink", ["off", "on"])
@pytest.mark.parametrize("without", [None, "openat2"])
def test_the_folder_of_a_user_may_not_be_a_link_to_what_others_own(start_with_users, public, symlink, without):
    """A link to /etc or to the document root went past [AUTH] and showed the source of scripts."""
    server = start_with_users([tools.helper("refuse.c"), "ENOSYS", without] if without else [],
                              server=f"UserDir public_html\nSymLink {symlink}")
    for target, name in ((server.root, "index.html"), ("/etc", "hostname")):
        public.symlink_to(target)
        os.lchown(public, uid_of("carol"), 4000)
        response = server.get(f"/~carol/{name}")
        assert response.status in (403, 404), f"{target}: {response.text}"
        public.unlink()
        time.sleep(1.1)  # a root is looked at again after a second
    public.mkdir()


@pytest.mark.parametrize("symlink, status", [("off", 404), ("on", 200)])
def test_a_link_to_an_own_folder_follows_the_rule_of_links(start_with_users, public, symlink, status):
    server = start_with_users(server=f"UserDir public_html\nSymLink {symlink}")
    public.symlink_to("aside")
    assert server.get("/~carol/").status == status


def test_a_folder_that_another_user_owns_is_not_served(start_with_users, public):
    server = start_with_users(server="UserDir public_html")
    public.mkdir()
    (public / "index.html").write_text("planted")
    os.chown(public, uid_of("bob"), 4000)
    assert server.get("/~carol/").status == 404


def test_a_folder_that_becomes_a_link_while_it_is_served(start_with_users, public):
    server = start_with_users(server="UserDir public_html")
    public.mkdir()
    (public / "index.html").write_text("home of carol")
    give(public, uid_of("carol"))
    assert server.get("/~carol/").text == "home of carol"
    shutil.rmtree(public)
    public.symlink_to(server.root)
    assert eventually(lambda: server.get("/~carol/").status == 404)


def test_a_folder_below_others(start_with_users, passwd):
    """UserDir may name several levels; each follows the rule of links."""
    inner = passwd.parent / "carol" / "web" / "public"
    inner.mkdir(parents=True)
    (inner / "index.html").write_text("home of carol")
    give(inner.parent, uid_of("carol"))
    server = start_with_users(server="UserDir web/public/")
    assert server.get("/~carol/").text == "home of carol"
    inner.parent.rename(inner.parent.with_name("other"))
    inner.parent.symlink_to("other")
    assert eventually(lambda: server.get("/~carol/").status == 404)
