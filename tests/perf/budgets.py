# SPDX-License-Identifier: Apache-2.0
"""
What a request may cost at most; docs/budgets.md explains the figures. A change that needs more
has to say what it buys.
"""

# User instructions of a whole turn of the loop: wake, read, answer a cached 13-byte file;
# log: what an access log adds to that; location: what a [LOCATION] in the site adds, whose path is compared with the request's.
# unlogged: what it adds when LogIf leaves the line out.
# Timers make keep vary by 60 where other processes have the processors; protocols beside HTTP/1 added less than 10 to it, and the name of the protocol some to log; rules
# and notes of other plugins added 40 to log.
INSTRUCTIONS = {"keep": 3620, "close": 5000, "nofdt": 7000, "log": 2120, "unlogged": 300, "location": 720}
INSTRUCTIONS_AIM = {"keep": 3400, "close": 4600, "nofdt": 6000, "log": 1500, "unlogged": 200, "location": 500}

# System calls a request.
CALLS = {"keep": 2.3, "close": 6.0, "logo": 3.1, "f200k": 3.3, "pipe16": 0.5}

# What plugins add to the instructions of a request, as a part of it: all loaded with nothing to do (kept and closed
# connections), and mandril with 10,000 networks and a rule for paths.
PLUGINS_IDLE = 0.02
PLUGINS_RULES = {"keep": 0.25, "close": 0.35}

# What status adds on a site whose requests it counts, and whose paths it looks at: calling its two hooks is more than half of it.
# It takes 0.057 and 0.035 to 0.075; timers make both vary.
PLUGINS_STATUS = {"keep": 0.07, "close": 0.10}

# User instructions of an echo of 64 bytes over WebSocket, with a whole turn of the loop, by the protocol of the connection.
WEBSOCKET_ECHO = {"http1": 1800, "http2": 5600}

# User instructions of the smallest Duda service, with a whole turn of the loop: 4,790 to 4,830, by the lengths of paths.
SERVICE = 4900
SERVICE_AIM = 4200

# User instructions of a small file over HTTP/2, by the number of requests at a time.
HTTP2 = {1: 6550, 32: 5250}
HTTP2_AIM = {1: 6000, 32: 3500}

# The same, 32 at a time, with another path each time.
HTTP2_OTHERS = 6850

# The same, 32 at a time, with the fields of a browser.
HTTP2_BROWSER = 7850

# User instructions that two numbers add which a route describes, one of the path and one of the query: 1,170. Half of it reads
# the query.
DESCRIBED = 1250
DESCRIBED_AIM = 600

# The answer of another server by a call of a service, as a part of what it costs through the proxy.
CALL = 1.2
