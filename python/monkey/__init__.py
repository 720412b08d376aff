# SPDX-License-Identifier: Apache-2.0
"""
The web server Monkey inside Python.

Any WSGI application is served by `python -m monkey module:application` or by monkey.Serving.
"""

from ._monkey import PASS, ConfigError, Error, FileWrapper, version as __version__
from .serving import Serving

__all__ = ["PASS", "ConfigError", "Error", "FileWrapper", "Serving"]
