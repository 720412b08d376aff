# SPDX-License-Identifier: Apache-2.0
"""What LogLevel trace says of state machines of plugins."""

import re


def changes(server, plugin, of):
    """The states of the first machine of this kind, from one to the next; as the log has them."""
    line = re.compile(rf"{plugin} state of={of} was=(\w+) is=(\w+) ")
    found = [match.groups() for match in line.finditer(server.log())]
    assert all(one[1] == two[0] for one, two in zip(found, found[1:])), found
    return [found[0][0], *(is_ for _, is_ in found)] if found else []
