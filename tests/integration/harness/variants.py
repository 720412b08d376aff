# SPDX-License-Identifier: Apache-2.0
"""The ways in which files are served; what a client sees must not depend on them."""

import pytest

FILE_TABLES = [pytest.param("", id="cached"), pytest.param("FileCache 0", id="FileCache_0"), pytest.param("FDT off", id="FDT_off")]
SCHEDULERS = ["Fair", "ReusePort"]
