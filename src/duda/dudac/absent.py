# SPDX-License-Identifier: Apache-2.0
"""Packages whose header is there and which are not: the compiler says so, where the service includes the header."""

import shutil

STAND_IN = """\
#error the package "{name}" is not there: {file} is missing
"""


def absent_packages(places):
    """Their names."""
    known = sorted(folder.name for folder in (places.headers / "packages").glob("*") if folder.is_dir())
    return [name for name in known if not (places.packages / f"{name}.dpkg").is_file()]


def write_headers(places, folder):
    """Make the folder, with a header of each that is an error. @return their names"""
    names = absent_packages(places)
    shutil.rmtree(folder, ignore_errors=True)
    for name in names:
        header = folder / "packages" / name / f"{name}.h"
        header.parent.mkdir(parents=True)
        header.write_text(STAND_IN.format(name=name, file=places.packages / f"{name}.dpkg"))
    return names
