# SPDX-License-Identifier: Apache-2.0
"""Which services are loaded, skipped or refused, and what the others notice."""

import re

import pytest

from harness import duda, process

SERVICE = """
#include "webservice.h"
DUDA_REGISTER("a", "b");
static void answer(duda_request_t *dr)
{
    static int count;

    response->http_status(dr, 200);
    response->printf(dr, "%.*s %d", (int)self->fixed_name.len, self->fixed_name.data, ++count);
    response->end(dr, NULL);
}
"""
ANSWERS = SERVICE + 'int duda_main() { map->static_add_ref("/", answer); return 0; }\n'


@pytest.fixture
def services(tmp_path):
    return tmp_path / "services"


def test_several_services(start, services):
    for name in ("one", "two"):
        duda.build(services, ANSWERS, name=name)
    server = start(**duda.config(services, "one", "two"))
    assert [server.get(path).body for path in ("/one/", "/two/", "/one/")] == [b"one 1", b"two 1", b"one 2"]
    assert server.get("/oneandmore/").status == server.get("/three/").status == 404


def checked(tmp_path, config):
    """What --test says of a configuration."""
    made = process.Config(tmp_path)
    made.write(**config)
    done = process.run("--configdir", made.folder, "--test")
    return done.stdout + done.stderr


def test_a_missing_service_is_an_error_of_a_test(tmp_path, services):
    duda.build(services, ANSWERS, name="one")
    said = checked(tmp_path, duda.config(services, "gone", "one"))
    assert f"error: {services}/gone.duda: No such file or directory" in said and "configuration is fine" not in said


def test_a_missing_service_refuses_the_start(start, services):
    duda.build(services, ANSWERS, name="one")
    server = start(wait=False, **duda.config(services, "gone", "one"))
    assert server.expect_exit() != 0
    assert f"{services}/gone.duda: No such file or directory" in server.log()


def test_a_missing_service_refuses_a_reload(start, services):
    duda.build(services, ANSWERS, name="one")
    server = start(**duda.config(services, "one"))
    (services / "one.duda").unlink()
    server.reload()
    server.wait_for_log("the old configuration stays in force")
    assert f"{services}/one.duda: No such file or directory" in server.log()
    assert server.get("/one/").body == b"one 1"


def test_a_service_beside_one_at_the_root_is_a_warning(tmp_path, services):
    for name in ("one", "two", "off"):
        duda.build(services, ANSWERS, name=name)
    config = duda.config(services, "two", duda.service("one", Root="on"), duda.service("off", Enabled="off"))
    said = checked(tmp_path, config)
    assert "warning: [WEB_SERVICE] two gets no requests: one of this site has Root on" in said and "with 1 warning" in said


def test_a_service_whose_main_fails_is_skipped(start, services):
    duda.build(services, SERVICE + 'int duda_main() { map->static_add_ref("/", answer); return 7; }\n', name="bad")
    duda.build(services, ANSWERS, name="one")
    server = start(**duda.config(services, "bad", "one"))
    assert server.get("/one/").body == b"one 1" and server.get("/bad/").status == 404
    assert re.search(r"service 'bad': skipped: duda_main\(\) returned 7", server.log())


@pytest.mark.parametrize("call", ['map->static_add("/x", "nobody");', 'map->static_root("nobody");',
                                  'duda_interface_t *i = map->interface_new("a"); '
                                  'map->interface_add_method(map->method_new("b", "nobody", 0), i); map->add_interface(i);'])
def test_a_name_that_no_function_has_refuses_the_start(start, services, call):
    duda.build(services, SERVICE + "int duda_main() { map->static_add_ref(\"/\", answer); " + call + " return 0; }\n", name="bad")
    server = start(wait=False, **duda.config(services, "bad"))
    assert server.expect_exit() != 0
    assert re.search(r"bad\.duda has no function 'nobody'", server.log())


def test_a_static_function_has_no_name(start, services):
    duda.build(services, SERVICE + 'int duda_main() { (void)answer; map->static_add("/", "answer"); return 0; }\n', name="bad")
    server = start(wait=False, **duda.config(services, "bad"))
    assert server.expect_exit() != 0
    assert re.search(r"has no function 'answer'", server.log())


def test_a_file_that_is_no_service_is_skipped(start, services):
    duda.build(services, ANSWERS, name="one")
    (services / "text.duda").write_text("no shared object")
    duda.build(services, "\nint nothing;\n", name="empty")
    server = start(**duda.config(services, "text", "empty", "one"))
    assert server.get("/one/").body == b"one 1"
    assert re.search(r"service 'text': skipped", server.log()) and re.search(r"service 'empty': skipped", server.log())


def test_enabled_off_is_honoured(start, services):
    duda.build(services, ANSWERS, name="one")
    server = start(**duda.config(services, duda.service("one", Enabled="off")))
    assert server.get("/one/").status == 404


def test_two_sites_have_a_state_each(start, services):
    duda.build(services, ANSWERS, name="one")
    other = f"[HOST]\n    ServerName other\n    DocumentRoot {services}\n" + duda.service("one")
    server = start(**duda.config(services, "one", sites={"other": other}))
    assert server.get("/one/").body == b"one 1"
    assert server.get("/one/", headers={"Host": "other"}).body == b"one 1"
    assert server.get("/one/").body == b"one 2"


def test_a_site_without_services_has_none(start, services):
    duda.build(services, ANSWERS, name="one")
    other = f"[HOST]\n    ServerName other\n    DocumentRoot {services}\n"
    server = start(**duda.config(services, "one", sites={"other": other}))
    assert server.get("/one/", headers={"Host": "other"}).status == 404


def test_a_root_service_has_the_whole_site(start, services):
    duda.build(services, ANSWERS, name="one")
    server = start(**duda.config(services, duda.service("one", Root="on"), files={"a.txt": "a"}))
    assert server.get("/").body == b"one 1" and server.get("/a.txt").body == b"one 2"


def test_a_service_may_change_its_name(start, services):
    duda.build(services, SERVICE + 'int duda_main() { conf->service_name("other"); map->static_add_ref("/", answer); return 0; }\n',
               name="one")
    server = start(**duda.config(services, "one"))
    assert server.get("/other/").body == b"one 1" and server.get("/one/").status == 404


def test_exit_is_called_once(start, services):
    duda.build(services, ANSWERS + 'void duda_exit() { printf("one leaves\\n"); fflush(stdout); }\n', name="one")
    server = start(**duda.config(services, "one"))
    server.get("/one/")
    server.stop()
    assert server.log().count("one leaves") == 1


def test_a_reload_keeps_the_state_of_a_service(start, services):
    duda.build(services, ANSWERS, name="one")
    config = duda.config(services, "one")
    server = start(**config)
    assert server.get("/one/").body == b"one 1"
    server.reload(**config)
    assert server.get("/one/").body == b"one 2"


def test_a_reload_loads_a_changed_file_anew(start, services):
    duda.build(services, ANSWERS, name="one")
    config = duda.config(services, "one")
    server = start(**config)
    assert server.get("/one/").body == b"one 1"
    duda.build(services, ANSWERS.replace("%d", "new %d"), name="one")
    server.reload(**config)
    assert server.get("/one/").body == b"one new 1"


@pytest.mark.parametrize("flags", [("-fcommon",), ("-fno-common",)])
def test_objects_are_shared_by_the_files_of_a_service_only(start, services, flags):
    other = '\n#include "webservice.h"\nint data_is_set(void) { return request != NULL && map != NULL && self != NULL; }\n'
    main = SERVICE.replace("static void answer", "int data_is_set(void);\nstatic void answer") + """
int duda_main() { map->static_add_ref("/", answer); return data_is_set() ? 0 : 1; }
"""
    for name in ("one", "two"):
        duda.build(services, main, other, name=name, flags=flags)
    server = start(**duda.config(services, "one", "two"))
    assert server.get("/one/").body == b"one 1" and server.get("/two/").body == b"two 1"


@pytest.mark.parametrize("lines, fault", [
    ({"DocumentRoot": "/no/such"}, r"DocumentRoot: /no/such is not a directory"),
    ({"Whatever": "1"}, r'unknown key "Whatever"'),
    ({"Enabled": "perhaps"}, r"Enabled: expected"),
])
def test_faults_of_a_section(start, services, lines, fault):
    duda.build(services, ANSWERS, name="one")
    server = start(wait=False, **duda.config(services, duda.service("one", **lines)))
    assert server.expect_exit() != 0
    assert re.search(fault, server.log())


def test_a_folder_of_services_must_exist(start, services):
    duda.build(services, ANSWERS, name="one")
    server = start(wait=False, **duda.config(services, "one", duda={"ServicesRoot": services / "gone"}))
    assert server.expect_exit() != 0
    assert re.search(r"ServicesRoot: .* is not a directory", server.log())


def test_the_same_name_twice_is_a_fault(start, services):
    duda.build(services, ANSWERS, name="one")
    server = start(wait=False, **duda.config(services, "one", "one"))
    assert server.expect_exit() != 0
    assert re.search(r"\[WEB_SERVICE\] one is on this site already", server.log())
