"""Why a broker goes to a host, or a host gets none, each sentence by its code. Pure.

What stands before a code's first `/` is the refusal's own code. Consoles in other languages have
their own words for each.
"""

from collections.abc import Mapping
from typing import Final

from controlplane.common.said import Said, said_of
from controlplane.common.sentences import Param

LACKS: Final[Mapping[str, str]] = {
    "lost": "It was declared lost.",
    "draining": "It is being drained.",
    "cordoned": "It is cordoned.",
    "away": "Its agent is away.",
    "gone": "It is not there any more.",
    "no-key": "It has no key of its own: nothing can be sealed for it.",
    "stale": "Its last report of capacity is {age_s} old.",
    "no-disk": "It has {free_gib} GiB of disk free; {wanted_gib} GiB a broker are wanted.",
    "no-port": "It has {ports:one=# free port|other=# free ports}; a broker takes two.",
    "no-port/taken": "A port that was free is taken.",
    "no-version": "It does not have version {version} of the broker.",
    "no-version/because": "It does not have version {version} of the broker: {reason}.",
    "versions-unknown": (
        "Whether it has version {version} of the broker is not known: its agent has not said."
    ),
    "version-differs": (
        "Its version {version} of the broker has other contents than where the cluster runs."
    ),
    "protocol-differs/range": (
        "Its version {version} of the broker speaks {oldest} to {newest}, the cluster {protocol}."
    ),
    "protocol-differs/newest": (
        "Its version {version} of the broker would speak {newest}, where the cluster's brokers"
        " speak {protocol}."
    ),
}
"""Why a host gets no broker."""

PLACED: Final[Mapping[str, str]] = {
    "placed": (
        "rack {rack} has {on_rack:one=# broker|other=# brokers} of the cluster; the host {on_host}"
        " of them and {in_all:one=# broker|other=# brokers} in all;"
        " {free_gib:unknown=free disk not known|other=# GiB of disk free};"
        " {load:unknown=load not known|other=load # a core}"
    ),
}
"""Why a broker goes to a host."""


def lack_of(sentence: str, **params: Param) -> Said:
    """Raises as `said_of`."""
    return said_of(LACKS, sentence, **params)
