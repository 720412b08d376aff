# SPDX-License-Identifier: Apache-2.0
"""docs/recipes/wordpress.md and nextcloud.md, with php-fpm and scripts in the places of those of the applications."""

import json
import random

import pytest

from harness import applications, process
from harness.client import free_port
from harness.named import Named
from harness.recipes import Recipe

pytestmark = [
    pytest.mark.skipif(not all(process.plugin(name) for name in ("tls", "http2", "fastcgi", "mandril", "limit", "rewrite", "compress")),
                       reason="not all plugins are built"),
    pytest.mark.once("pages of the documentation"),
]

# What a front controller sees of a request.
TELL = ("<?php header('Content-Type: application/json'); header('X-Script: ' . $_SERVER['SCRIPT_NAME']); echo json_encode(["
        "'script' => $_SERVER['SCRIPT_NAME'], 'uri' => $_SERVER['REQUEST_URI'], 'more' => $_SERVER['PATH_INFO'] ?? '', 'get' => $_GET, "
        "'https' => $_SERVER['HTTPS'] ?? '', 'front' => $_SERVER['front_controller_active'] ?? '']);")
UPLOAD = "<?php echo $_FILES['async-upload']['size'], ' ', sha1_file($_FILES['async-upload']['tmp_name']);"


def served(recipe, start, php, port, *places):
    socket = recipe.here("/run/php/php-fpm.sock")
    recipe.serve(start, (socket, php.address.removeprefix("unix:")), *places)
    return Named(port, port)


# ---- WordPress ----

WORDPRESS = {"index.php": TELL, "wp-config.php": "<?php $password = 'secret';", "wp-login.php": TELL, "xmlrpc.php": TELL,
             "wp-admin/index.php": TELL, "wp-admin/install.php": TELL, "wp-admin/async-upload.php": UPLOAD, "readme.html": "read me",
             "wp-includes/a.js": "var a;" * 500, "wp-content/uploads/a.png": "a picture", "wp-content/uploads/evil.php": "<?php echo 'run';",
             "wp-content/uploads/evil.jpg": "<?php echo 'run';"}


@pytest.fixture(scope="module")
def blog(start_shared, tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("blog"), free_port()
    recipe = Recipe("wordpress", folder)
    recipe.write({f"/srv/wordpress/{name}": text for name, text in WORDPRESS.items()})
    with applications.php_fpm(folder / "php") as php:
        yield served(recipe, start_shared, php, port, ("Listen 80", f"Listen 127.0.0.1:{port}"))


BLOG = "http://blog.example.org"


@pytest.mark.parametrize("target, script", [
    ("/", "/index.php"), ("/2026/a-post/?x=1", "/index.php"), ("/wp-json/wp/v2/posts?per_page=5", "/index.php"), ("/?p=17", "/index.php"),
    ("/none.html", "/index.php"), ("/wp-admin/?a=b", "/wp-admin/index.php"), ("/wp-login.php", "/wp-login.php"), ("/xmlrpc.php", "/xmlrpc.php")])
def test_wordpress_gets_what_is_no_file(blog, target, script):
    told = json.loads(blog.body(BLOG + target))
    assert (told["script"], told["uri"]) == (script, target)
    query = target.partition("?")[2]
    assert told["get"] == (dict([query.split("=")]) if query else [])


@pytest.mark.parametrize("target", ["/wp-config.php", "/wp-config.php/x", "/WP-CONFIG.PHP", "//wp-config.php", "/%77p-config.php", "/wp-admin/install.php",
                                    "/wp-content/uploads/evil.php", "/wp-content/uploads/evil.php/x.png", "/wp-content/uploads/evil.PHP"])
def test_closed_places_of_wordpress(blog, target):
    status, _, body = blog.ask(BLOG + target)
    assert status == 403 and "run" not in body and "<?php" not in body


def test_a_picture_runs_nothing(blog):
    status, fields, body = blog.ask(f"{BLOG}/wp-content/uploads/evil.jpg/x.php")
    assert status in (403, 404) and "x-script" not in fields and "run" not in body


def test_files_beside_wordpress(blog):
    assert blog.body(f"{BLOG}/readme.html") == "read me"
    status, fields, _ = blog.ask(f"{BLOG}/wp-content/uploads/a.png")
    assert (status, fields["cache-control"]) == (200, "max-age=604800")
    assert blog.ask(f"{BLOG}/wp-includes/a.js", "--header", "Accept-Encoding: gzip")[1]["content-encoding"] == "gzip"


def test_an_upload_of_20_mb(blog, tmp_path):
    file = tmp_path / "a.mov"
    file.write_bytes(random.Random(3).randbytes(20_000_000))
    assert blog.body(f"{BLOG}/wp-admin/async-upload.php", "--form", f"async-upload=@{file}").startswith("20000000 ")
    file.write_bytes(bytes(65 << 20))
    assert blog.status(f"{BLOG}/wp-admin/async-upload.php", "--form", f"async-upload=@{file}") == 413


@pytest.mark.parametrize("target, options, allowed", [("/xmlrpc.php", ("--data", "<a>"), 5), ("/wp-login.php", ("--data", "log=a"), 10)])
def test_limits_of_wordpress(start, tmp_path, target, options, allowed):
    port, recipe = free_port(), Recipe("wordpress", tmp_path)
    recipe.write({f"/srv/wordpress/{name}": text for name, text in WORDPRESS.items()})
    with applications.php_fpm(tmp_path / "php") as php:
        blog = served(recipe, start, php, port, ("Listen 80", f"Listen 127.0.0.1:{port}"), ("/m burst", "/h burst"))
        seen = [blog.status(BLOG + target, *options) for _ in range(allowed + 3)]
        assert seen == [200] * allowed + [429] * 3
        assert blog.status(f"{BLOG}/wp-login.php") == 200


# ---- Nextcloud ----

NEXTCLOUD = {**{name: TELL for name in ("index.php", "remote.php", "public.php", "status.php", "cron.php", "ocs/v2.php", "ocs-provider/index.php",
                                        "apps/richdocumentscode/proxy.php", "lib/base.php", "config/config.php", "core/templates/layout.php")},
             "core/css/a.css": "a { }", "core/js/a.mjs": "export const a = 1;", "data/nextcloud.log": "secret", "occ": "#!/usr/bin/env php",
             "console.php": "<?php", "robots.txt": "User-agent: *", "apps/files/index.html": "no page"}
CLOUD = "https://cloud.example.org"


@pytest.fixture(scope="module")
def cloud(start_shared, tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("cloud"), free_port()
    recipe = Recipe("nextcloud", folder)
    recipe.certify("cloud.example.org")
    recipe.write({f"/srv/nextcloud/{name}": text for name, text in NEXTCLOUD.items()})
    with applications.php_fpm(folder / "php") as php:
        yield served(recipe, start_shared, php, port, ("Listen 443", f"Listen 127.0.0.1:{port}"))


@pytest.mark.parametrize("target, script, more", [
    ("/", "/index.php", ""),
    ("/index.php/apps/files/?dir=/", "/index.php", "/apps/files/"),
    ("/apps/dashboard/", "/index.php", ""),
    ("/s/abc/download?path=x", "/index.php", ""),
    ("/s/abc/download/a.php", "/index.php", ""),
    ("/core/templates/layout.php", "/index.php", ""),
    ("/remote.php/dav/files/ada/a%20b.php?x", "/remote.php", "/dav/files/ada/a b.php"),
    ("/public.php/webdav/", "/public.php", "/webdav/"),
    ("/ocs/v2.php/cloud/user?format=json", "/ocs/v2.php", "/cloud/user"),
    ("/ocs-provider/", "/ocs-provider/index.php", ""),
    ("/apps/richdocumentscode/proxy.php?req=/hosting", "/apps/richdocumentscode/proxy.php", ""),
    ("/status.php", "/status.php", ""),
    ("/none.css", "/index.php", ""),
])
def test_which_script_of_nextcloud_gets_a_request(cloud, target, script, more):
    told = json.loads(cloud.body(CLOUD + target))
    assert (told["script"], told["uri"], told["more"]) == (script, target, more)
    assert (told["https"], told["front"]) == ("on", "true")


@pytest.mark.parametrize("target", ["/data/nextcloud.log", "/config/config.php", "/lib/base.php", "/DATA/nextcloud.log", "/occ", "/console.php", "/.htaccess",
                                    "/3rdparty", "/templates/x", "/build/", "/tests", "/core/../data/nextcloud.log"])
def test_closed_places_of_nextcloud(cloud, target):
    status, fields, body = cloud.ask(CLOUD + target)
    assert status == 403 and "x-script" not in fields and "secret" not in body


@pytest.mark.parametrize("target, location", [
    ("/.well-known/caldav", "/remote.php/dav/"), ("/.well-known/carddav", "/remote.php/dav/"),
    ("/.well-known/webfinger?resource=a", "/index.php/.well-known/webfinger?resource=a"),
    ("/.well-known/nodeinfo", "/index.php/.well-known/nodeinfo")])
def test_well_known_addresses_of_nextcloud(cloud, target, location):
    status, fields, _ = cloud.ask(CLOUD + target)
    assert (status, fields["location"].removeprefix(CLOUD)) == (301, location)


def test_files_of_nextcloud(cloud):
    status, fields, body = cloud.ask(f"{CLOUD}/core/js/a.mjs")
    assert (status, body, fields["cache-control"]) == (200, "export const a = 1;", "public, max-age=15778463")
    assert fields["content-type"].startswith("text/javascript") and fields["x-robots-tag"] == "noindex, nofollow"
    assert cloud.body(f"{CLOUD}/robots.txt") == "User-agent: *"


@pytest.mark.parametrize("method", ["PROPFIND", "PUT", "MKCOL", "DELETE", "REPORT", "OPTIONS"])
def test_methods_of_webdav_reach_nextcloud(cloud, method):
    status, fields, _ = cloud.ask(f"{CLOUD}/remote.php/dav/files/ada/", "--request", method, "--data", "<x/>")
    assert (status, fields["x-script"]) == (200, "/remote.php")
