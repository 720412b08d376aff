# SPDX-License-Identifier: Apache-2.0
"""`dudac routes --openapi`: the document that a service publishes about itself, as its server says it."""

import getopt
import http.client
import pathlib

from .building import Builder
from .failure import Failure
from .options import Misuse, level_number
from .places import Cache
from .routes import document_of
from .run_folder import LOOPBACK, RunFolder
from .running import until_stopped
from .server import Server
from .testing import with_copied_folders

ANSWER_WITHIN = 30.0  # seconds


def is_document_wanted(words):
    return "--openapi" in words


def parse(words):
    """path and level of --openapi PATH [-V LEVEL]. Raises Misuse."""
    try:
        found, rest = getopt.gnu_getopt(words, "V:", ["openapi"])
    except getopt.GetoptError as error:
        raise Misuse(str(error)) from None
    if len(rest) != 1:
        raise Misuse("routes takes one path")
    levels = [level_number(value) for option, value in found if option == "-V"]
    return rest[0], levels[-1] if levels else None


def fetch(port, target):
    """@return the text. Raises Failure."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=ANSWER_WITHIN)
    try:
        connection.request("GET", target)
        answer = connection.getresponse()
        text = answer.read().decode()
    except (OSError, http.client.HTTPException) as error:
        raise Failure(f"{target} is not answered: {error}") from None
    finally:
        connection.close()
    if answer.status != 200:
        raise Failure(f"{target} is answered by {answer.status}: its group has a hook that refuses")
    return text


def ask(places, service, target):
    """A server that nobody else knows answers once. Raises Failure."""
    with RunFolder() as run:
        run.write(places, [with_copied_folders(service, run.path / "copies")], f"{LOOPBACK}:0")
        server = Server(places, run)
        try:
            if not server.wait_until_started() or service.name in server.skipped:
                server.stop()
                server.show_output()
                raise Failure("the service does not start")
            return fetch(server.port, target)
        finally:
            server.stop()


def show_document(places, words):
    """Exit code 0. Raises Misuse and Failure."""
    path, level = parse(words)
    with until_stopped(), Cache() as cache:
        services = Builder(places, cache, path, level).build()
        if len(services) != 1:
            raise Failure(f"{path} has {len(services)} services: name the folder of one")
        target = document_of(pathlib.Path(path))
        if target is None:
            raise Failure(f"{services[0].name} publishes no document: input->publish() in duda_main() does that")
        print(ask(places, services[0], f"/{services[0].name}{target}"))
        return 0
    return 1
