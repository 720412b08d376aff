# SPDX-License-Identifier: Apache-2.0
"""
certbot and acme.sh, as far as a recipe needs them: python3 acme.py certbot|acme.sh OPTION... They ask for the challenge of each name as an
authority does, and install what the authority of the tests issued.

In the environment: ACME_ADDRESS, where port 80 of all names is; ACME_ISSUED, a folder with NAME.pem and NAME.key; ACME_LIVE, that of certbot.
"""

import argparse
import http.client
import os
import pathlib
import secrets
import shutil
import subprocess
import sys


def prove(webroot, names):
    """HTTP-01 (RFC 8555 section 8.3) for each name, without the redirects that an authority may follow."""
    folder = pathlib.Path(webroot, ".well-known", "acme-challenge")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        token, key = secrets.token_urlsafe(32).replace("-", "_"), secrets.token_urlsafe(32)
        (folder / token).write_text(f"{token}.{key}")
        connection = http.client.HTTPConnection(os.environ["ACME_ADDRESS"], timeout=20)
        connection.request("GET", f"/.well-known/acme-challenge/{token}", headers={"Host": name})
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        (folder / token).unlink()
        if (answer.status, body) != (200, f"{token}.{key}"):
            sys.exit(f"the challenge of {name} is answered with {answer.status}: {body}")


def copy(name, certificate, key):
    for target, ending in ((certificate, "pem"), (key, "key")):
        pathlib.Path(target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(pathlib.Path(os.environ["ACME_ISSUED"], f"{name}.{ending}"), target)


def certbot(words):
    options = argparse.ArgumentParser()
    options.add_argument("command", choices=["certonly"])
    options.add_argument("--webroot", action="store_true", required=True)
    options.add_argument("--cert-name", required=True)
    for option in ("-w", "--deploy-hook"):
        options.add_argument(option, required=True)
    options.add_argument("-d", action="append", required=True)
    asked = options.parse_args(words)
    prove(asked.w, asked.d)
    lineage = pathlib.Path(os.environ["ACME_LIVE"], asked.cert_name)
    copy(asked.cert_name, lineage / "fullchain.pem", lineage / "privkey.pem")
    subprocess.run(asked.deploy_hook, shell=True, check=True,
                   env={**os.environ, "RENEWED_LINEAGE": str(lineage), "RENEWED_DOMAINS": " ".join(asked.d)})


def acme_sh(words):
    options = argparse.ArgumentParser()
    options.add_argument("--issue", action="store_true")
    options.add_argument("--install-cert", action="store_true")
    for option in ("-w", "--key-file", "--fullchain-file", "--reloadcmd"):
        options.add_argument(option)
    options.add_argument("-d", action="append", required=True)
    asked = options.parse_args(words)
    if asked.issue:
        prove(asked.w, asked.d)
    if asked.install_cert:
        copy(asked.d[0], asked.fullchain_file, asked.key_file)
        subprocess.run(asked.reloadcmd, shell=True, check=True)


{"certbot": certbot, "acme.sh": acme_sh}[sys.argv[1]](sys.argv[2:])
