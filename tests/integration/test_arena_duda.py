# SPDX-License-Identifier: Apache-2.0
"""examples/arena/duda: what the public benchmark checks of an entry before it measures it; most of it as of the program."""

import json
import time

import pytest
from test_arena_web import (FOLDER, WITHIN, Addresses, make_files, test_a_body_may_come_in_pieces,  # noqa: F401
                            test_a_wrong_handshake_is_refused, test_an_upload_that_ends_early_is_not_counted,
                            test_baseline_adds_a_body, test_baseline_adds_values_of_the_query,
                            test_baseline_refuses_what_is_no_number, test_bytes_of_uploads_are_counted,
                            test_files_have_their_types_and_codings, test_http_2_has_the_same_answers, test_items_are_listed_with_their_totals,
                            test_lists_are_compressed_for_clients_that_want_it, test_lists_of_other_numbers, test_messages_come_back,
                            test_requests_of_one_connection_are_told_apart, test_sixteen_requests_in_a_row_are_answered_in_order)

from harness import certificates, compression, duda, executable, postgres_server, process
from harness.client import free_ports
from harness.config import section

SERVICE = process.TREE / "examples" / "arena" / "duda"
pytestmark = [pytest.mark.limit(180), pytest.mark.once("it has each carrier")]


class Arena(Addresses):
    """A server with the service as the site's own."""

    def __init__(self, start, folder, env, server=""):
        for package in ("json", "postgresql", "websocket"):
            duda.require_package(package)
        duda.build(folder / "services", *((SERVICE / f"{name}.c").read_text() for name in ("main", "items", "store")), name="arena", level=3,
                   flags=("-fcommon", f"-I{SERVICE}"))
        self.files = make_files(folder / "html" / "static")
        ports = free_ports(3)
        extra = {"monkey.mime": (process.TREE / "conf" / "monkey.mime").read_text(), "plugins/tls/tls.conf": section("TLS", certificates.issue("localhost").lines())}
        site = section("COMPRESS", "Types application/json\nEncodings br gzip\nMinSize 100")
        keys = duda.config(folder / "services", duda.service("arena", Root="on", DocumentRoot=folder / "html"), site=site, extra=extra,
                           duda={"PackagesRoot": duda.packages()}, host="Precompressed on",
                           server=f"Listen 127.0.0.1:0\nListen 127.0.0.1:{ports[0]} tls !h2\nListen 127.0.0.1:{ports[1]} tls\n"
                                  f"Listen 127.0.0.1:{ports[2]} h2 !http\nMaxBodySize 32M\nMaxKeepAliveRequest 100000\n{server}")
        loaded = "\n".join(f"    Load {executable.plugin(name)}" for name in ("tls", "http2", "compress"))
        keys["extra"]["plugins.load"] = keys["extra"]["plugins.load"].rstrip("\n") + "\n" + loaded + "\n"
        self.server = start(env={"ARENA_ITEMS": str(FOLDER / "items.tsv"), **env}, **keys)
        self.ports = dict(zip(("http", "tls", "h2", "h2c"), (self.server.port, *ports)))


@pytest.fixture(scope="module")
def arena(start_shared, tmp_path_factory):
    return Arena(start_shared, tmp_path_factory.mktemp("arena"), {})


def test_without_a_database_lists_are_empty(arena):
    status, fields, body = arena.ask("GET", "/async-db?min=10&max=50&limit=20")
    assert (status, fields["Content-Type"], json.loads(body)) == (200, "application/json", {"items": [], "count": 0})
    assert arena.ask("GET", "/crud/items/1")[0] == 503


# ---- with a database

def in_table(n):
    return {"id": n, "name": f"item {n}", "category": ["books", "toys", "tools", "food"][n % 4], "price": n * 7 % 500, "quantity": n % 50,
            "active": n % 2 == 0, "tags": ["fast", "new"], "rating": {"score": n % 50, "count": n % 1000}}


@pytest.fixture(scope="module")
def store(start_shared, tmp_path_factory):
    with postgres_server.start() as database:
        database.sql((SERVICE / "items.sql").read_text())
        arena = Arena(start_shared, tmp_path_factory.mktemp("store"), {"DATABASE_URL": database.uri(), "DATABASE_MAX_CONN": "4"})
        arena.database = database
        yield arena


def answer(arena, method, target, body=None):
    status, fields, text = arena.ask(method, target, json.dumps(body) if body else None, **({"Content_Type": "application/json"} if body else {}))
    return status, fields["X-Cache"], json.loads(compression.decode(fields["Content-Encoding"], text))


def test_items_by_price(store):
    status, _, found = answer(store, "GET", "/async-db?min=10&max=50&limit=20")
    assert status == 200 and found["count"] == len(found["items"]) == 20
    assert all(10 <= item["price"] <= 50 and item == in_table(item["id"]) for item in found["items"])
    assert answer(store, "GET", "/async-db")[2]["count"] == 50
    assert answer(store, "GET", "/async-db?min=7&max=7&limit=1")[2]["items"][0]["price"] == 7
    for query in ("limit=0", "limit=51", "limit=x", "min=x", "max=1e3"):
        assert store.ask("GET", f"/async-db?{query}")[0] == 400


def test_pages_of_a_category(store):
    _, _, found = answer(store, "GET", "/crud/items?category=toys&page=2&limit=10")
    assert found == {"items": [in_table(41 + 4 * n) for n in range(10)], "total": 10, "page": 2, "limit": 10}
    assert answer(store, "GET", "/crud/items?category=none")[2]["total"] == 0


def test_one_item_is_kept_for_a_moment(store):
    """It may be read anew at any time on a slow machine, but never after a change."""
    assert answer(store, "GET", "/crud/items/17")[::2] == (200, in_table(17))
    seen = set()
    deadline = time.monotonic() + WITHIN
    while seen != {"HIT", "MISS"} and time.monotonic() < deadline:
        seen.add(answer(store, "GET", "/crud/items/17")[1])
    assert seen == {"HIT", "MISS"}
    changed = {"name": "new name", "category": "toys", "price": 3, "quantity": 2}
    for price in range(1, 20):
        answer(store, "GET", "/crud/items/17")
        status, _, item = answer(store, "PUT", "/crud/items/17", {**changed, "price": price})
        assert status == 200 and item["price"] == price
        assert answer(store, "GET", "/crud/items/17")[2]["price"] == price
    assert store.ask("GET", "/crud/items/200000")[0] == 404
    assert answer(store, "PUT", "/crud/items/200000", changed)[0] == 404


def test_an_item_is_added_and_replaced(store):
    made = {"id": 300000, "name": "it's; DROP TABLE items", "category": "tools", "price": 12, "quantity": 3}
    for name in (made["name"], "another"):
        status, _, item = answer(store, "POST", "/crud/items", {**made, "name": name})
        assert status == 201 and item["name"] == name
        assert answer(store, "GET", "/crud/items/300000")[2] == {**made, "name": name, "active": True, "tags": [],
                                                                 "rating": {"score": 0, "count": 0}}
    for wrong in ({}, {"id": 1}, {**made, "name": None}, {**made, "price": "x"}):
        assert answer(store, "POST", "/crud/items", {"x": 1, **wrong})[0] == 400
    assert store.ask("POST", "/crud/items", b"{", Content_Type="application/json")[0] == 400


def test_clients_that_leave_while_the_database_waits(store):
    store.database.sql("SELECT 1")
    clients = [store.connect() for _ in range(40)]
    for number, client in enumerate(clients):
        client.request("GET", f"/async-db?min={number}&max=400")
    for client in clients[::2]:
        client.close()
    for client in clients[1::2]:
        assert client.getresponse().status == 200
        client.close()
    assert answer(store, "GET", "/async-db")[0] == 200
