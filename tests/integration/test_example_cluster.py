# SPDX-License-Identifier: Apache-2.0
"""examples/cluster: its one command, and that its units and its manifest say what systemd and Kubernetes want."""

import configparser
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import types

import pytest

from harness import duda, executable, http, process
from harness.client import Connection, eventually, free_port
from harness.frames import Raw

CLUSTER = process.TREE / "examples" / "cluster"
WITHIN = 60.0


# ---- the command


@pytest.fixture
def cluster(tmp_path):
    """What runs: its lines, and the place of the proxy."""
    duda.plugin()
    for package in ("redis", "websocket"):
        duda.require_package(package)
    if not executable.plugin("proxy_reverse") or not executable.plugin("status"):
        pytest.skip("this build has no such plugin")
    if not shutil.which("redis-server"):
        pytest.skip("redis-server is not installed")
    port, output, folder = free_port(), tmp_path / "output", pathlib.Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o755)  # servers that root starts become another user
    with open(output, "wb") as file:
        running = subprocess.Popen([sys.executable, CLUSTER / "run", str(port)], stdout=file, stderr=file, start_new_session=True,
                                   env={**os.environ, "MONKEY": executable.binary(), "TMPDIR": str(folder)})
    try:
        assert eventually(lambda: f"http://localhost:{port}/hall/" in output.read_text() or running.poll() is not None, within=WITHIN)
        assert running.poll() is None, output.read_text()
        yield types.SimpleNamespace(process=running, text=output.read_text,
                                    connect=lambda **how: Connection(("127.0.0.1", port), **how))
    finally:
        if running.poll() is None:
            running.send_signal(signal.SIGTERM)
            running.wait(WITHIN)
        folder.rmdir()  # it is empty again


def ask(cluster, target, **fields):
    with cluster.connect() as connection:
        connection.send(http.request(target, headers=fields))
        return connection.response()


@pytest.mark.slow
@pytest.mark.skipif(process.is_sanitized(), reason="the service would have to be built with the sanitizers of the server")
def test_two_servers_by_one_command(cluster):
    assert b"<title>Hall</title>" in ask(cluster, "/hall/").body
    visits, servers, cookie = [], set(), {}
    for _ in range(20):
        answer = ask(cluster, "/hall/visit", **cookie)
        cookie = {"Cookie": answer.header("Set-Cookie").split(";")[0]}
        visits.append(int(re.match(r"visit (\d+),", answer.text)[1]))
        servers.add(re.search(r"server (\d+)", answer.text)[1])
    assert visits == list(range(1, 21)) and len(servers) == 2
    with Raw(cluster, "/hall/chat") as ann, Raw(cluster, "/hall/chat") as bob:
        ann.say("hello")
        assert ann.hear() == bob.hear() == "hello"
    os.kill(int(re.search(r"server 2: port \d+, process (\d+)", cluster.text())[1]), signal.SIGKILL)
    assert eventually(lambda: "server 2 has ended" in cluster.text(), within=WITHIN)
    answer = ask(cluster, "/hall/visit", **cookie)
    assert answer.text.startswith("visit 21,")


# ---- systemd


@pytest.mark.parametrize("unit", ["monkey-app@.service", "monkey-proxy.service", "monkey-cluster.target"])
def test_units(unit):
    parser = configparser.ConfigParser(strict=True, interpolation=None, delimiters="=")
    parser.optionxform = str
    parser.read_string((CLUSTER / "systemd" / unit).read_text())
    assert set(parser) <= {"DEFAULT", "Unit", "Service", "Install"} and parser["Unit"]["Description"]
    if unit.endswith(".service"):
        folder = re.search(r"--configdir /srv/cluster/(\w+)", parser["Service"]["ExecStart"])[1]
        assert (CLUSTER / folder / "monkey.conf").exists() and parser["Service"]["Type"] == "notify"
    for ports in re.findall(r"monkey-app@(\d+)", (CLUSTER / "systemd" / "monkey-cluster.target").read_text()):
        assert f"127.0.0.1:{ports}" in (CLUSTER / "proxy/plugins/proxy_reverse/proxy_reverse.conf").read_text()


# ---- Kubernetes: what an object must have, and may; a type, a list of one schema, or a choice of words


NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
QUANTITY = re.compile(r"[0-9]+(m|Mi|Gi)?")
LABELS = {"*": str}
METADATA = {"name": NAME, "labels?": LABELS}
REQUEST = {"path": re.compile(r"/.*"), "port": NAME}
PROBE = {"httpGet?": REQUEST, "exec?": {"command": [str]}, "periodSeconds": int, "failureThreshold?": int}
SECURITY = {"allowPrivilegeEscalation": bool, "readOnlyRootFilesystem": bool, "capabilities": {"drop": [str]}}
CONTAINER = {"name": NAME, "image": re.compile(r"[^:\s]+(:[\w.]+)"), "args?": [str], "ports": [{"name": NAME, "containerPort": int}],
             "readinessProbe": PROBE, "livenessProbe?": PROBE, "lifecycle?": {"preStop": {"exec": {"command": [str]}}},
             "resources": {"requests": {"cpu": QUANTITY, "memory": QUANTITY}, "limits": {"memory": QUANTITY}},
             "securityContext?": SECURITY, "volumeMounts?": [{"name": NAME, "mountPath": re.compile(r"/.+")}]}
POD = {"containers": [CONTAINER], "terminationGracePeriodSeconds?": int, "securityContext?": {"runAsNonRoot": bool, "runAsUser": int},
       "volumes?": [{"name": NAME, "configMap?": {"name": NAME}, "emptyDir?": {}}]}
SCHEMAS = {
    ("v1", "ConfigMap"): {"data": {"*": str}},
    ("v1", "Service"): {"spec": {"selector": LABELS, "ports": [{"name": NAME, "port": int, "targetPort": NAME}]}},
    ("apps/v1", "Deployment"): {"spec": {
        "replicas": int, "selector": {"matchLabels": LABELS}, "template": {"metadata": {"labels": LABELS}, "spec": POD},
        "strategy?": {"rollingUpdate": {"maxUnavailable": int, "maxSurge": int}}}},
    ("autoscaling/v2", "HorizontalPodAutoscaler"): {"spec": {
        "scaleTargetRef": {"apiVersion": str, "kind": str, "name": NAME}, "minReplicas": int, "maxReplicas": int,
        "metrics": [{"type": re.compile("Resource"), "resource": {"name": re.compile("cpu|memory"), "target": {
            "type": re.compile("Utilization"), "averageUtilization": int}}}],
        "behavior?": {"scaleDown": {"stabilizationWindowSeconds": int}}}},
}


def faults(value, schema, where=""):
    """What is wrong with a value, as lines."""
    if isinstance(schema, re.Pattern):
        return [] if isinstance(value, str) and schema.fullmatch(value) else [f"{where}: {value!r}"]
    if isinstance(schema, type):
        return [] if type(value) is schema else [f"{where}: {value!r} is no {schema.__name__}"]
    if isinstance(schema, list):
        if not isinstance(value, list) or not value:
            return [f"{where}: no list"]
        return [line for at, item in enumerate(value) for line in faults(item, schema[0], f"{where}[{at}]")]
    if not isinstance(value, dict):
        return [f"{where}: no object"]
    if "*" in schema:
        return [line for key in value for line in faults(value[key], schema["*"], f"{where}.{key}")]
    known = {key.rstrip("?"): part for key, part in schema.items()}
    lines = [f"{where}.{key} is unknown" for key in value if key not in known]
    lines += [f"{where}.{key} is missing" for key in schema if not key.endswith("?") and key not in value]
    return lines + [line for key in value if key in known for line in faults(value[key], known[key], f"{where}.{key}")]


def objects():
    yaml = pytest.importorskip("yaml")
    return list(yaml.safe_load_all((CLUSTER / "kubernetes.yaml").read_text()))


def test_each_object_fits_its_schema():
    for one in objects():
        schema = {"apiVersion": str, "kind": str, "metadata": METADATA, **SCHEMAS[one["apiVersion"], one["kind"]]}
        assert faults(one, schema, one["kind"]) == []


# ---- Kubernetes: its own schemas, of the first and the last release of which the pinned package has them


CHECK = """import kubernetes_validate as schemas, sys, yaml
for one in yaml.safe_load_all(sys.stdin):
    try:
        assert schemas.validate(one, sys.argv[1], strict=True) == sys.argv[1], "no schemas of this release"
    except schemas.ValidationError as wrong:
        print(one["kind"], ".".join(map(str, wrong.path)), wrong.message)
"""


def official_faults(text, version):
    folder = pathlib.Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "monkey" / "kubernetes"
    if not (folder / "pinned").is_file():
        pytest.skip("the schemas of Kubernetes are not there: tools/deps --test")
    done = subprocess.run([sys.executable, "-c", CHECK, version], input=text, env={**os.environ, "PYTHONPATH": str(folder)},
                          capture_output=True, text=True, timeout=WITHIN, check=True)
    return done.stdout.splitlines()


@pytest.mark.parametrize("version", ["1.25", "1.37"])
def test_each_object_fits_the_official_schema(version):
    assert official_faults((CLUSTER / "kubernetes.yaml").read_text(), version) == []


@pytest.mark.parametrize("right, wrong, fault", [
    ("containerPort: 2001", 'containerPort: "2001"', "ports.0.containerPort '2001' is not of type 'integer'"),
    ("maxSurge: 1", "maxSurges: 1", "'maxSurges' was unexpected"),
    ("  maxReplicas: 8\n", "", "'maxReplicas' is a required property"),
], ids=["type", "name", "missing"])
def test_the_official_schema_finds_what_is_wrong(right, wrong, fault):
    text = (CLUSTER / "kubernetes.yaml").read_text()
    assert right in text
    found = official_faults(text.replace(right, wrong, 1), "1.37")
    assert len(found) == 1 and fault in found[0]


def test_a_schema_finds_what_is_wrong():
    deployment = next(one for one in objects() if one["kind"] == "Deployment")
    schema = SCHEMAS["apps/v1", "Deployment"]["spec"]
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    container["readinessProbe"]["httpGet"]["path"] = "health"
    container["ports"][0]["containerPort"] = "2001"
    container["whatever"] = 1
    del deployment["spec"]["replicas"]
    assert len(faults(deployment["spec"], schema)) == 4


def test_objects_refer_to_each_other():
    found = {(one["kind"], one["metadata"]["name"]): one for one in objects()}
    for (kind, name), one in found.items():
        if kind == "Deployment":
            pod = one["spec"]["template"]
            assert one["spec"]["selector"]["matchLabels"] == pod["metadata"]["labels"]
            service = found["Service", name]["spec"]
            assert service["selector"] == pod["metadata"]["labels"]
            ports = {port["name"] for container in pod["spec"]["containers"] for port in container["ports"]}
            assert {port["targetPort"] for port in service["ports"]} <= ports
            volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes", [])}
            for container in pod["spec"]["containers"]:
                assert {mount["name"] for mount in container.get("volumeMounts", [])} <= set(volumes)
                for probe in ("readinessProbe", "livenessProbe"):
                    assert container.get(probe, {}).get("httpGet", {}).get("port", "http") in ports | {"http"}
            for volume in volumes.values():
                assert "configMap" not in volume or ("ConfigMap", volume["configMap"]["name"]) in found
        if kind == "HorizontalPodAutoscaler":
            target = one["spec"]["scaleTargetRef"]
            deployment = found[target["kind"], target["name"]]
            assert one["spec"]["minReplicas"] == deployment["spec"]["replicas"] <= one["spec"]["maxReplicas"]
            assert deployment["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"]
    conf = found["ConfigMap", "hall"]["data"]["duda.conf"]
    hosts = re.findall(r"redis://(\w+):(\d+)", conf)
    assert len(hosts) == 2 and all(found["Service", host]["spec"]["ports"][0]["port"] == int(port) for host, port in hosts)


@pytest.mark.parametrize("name", ["app", "proxy"])
def test_configurations_are_valid(name, tmp_path):
    """Keys and plugins; the folders of an installation are others here."""
    wanted = ["proxy_reverse"] if name == "proxy" else ["duda", "status"]
    if not all(executable.plugin(plugin) for plugin in wanted):
        pytest.skip("this build has no such plugin")
    conf = tmp_path / name
    shutil.copytree(CLUSTER / name, conf)
    for path in conf.rglob("*"):
        if path.is_file():
            path.write_text(re.sub(r"/srv/cluster\S*|/usr/local\S*", str(tmp_path), path.read_text()))
    (tmp_path / "hall.duda").touch()
    for path in (conf / "plugins.load",):
        path.write_text(re.sub(r"Load (\w+)", lambda found: f"Load {executable.plugin(found[1])}", path.read_text()))
    done = subprocess.run([executable.binary(), "--configdir", conf, "--test"], capture_output=True, text=True, timeout=WITHIN, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
