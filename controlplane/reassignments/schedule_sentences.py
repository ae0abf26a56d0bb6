"""What is said of a scheduled rebalance, one sentence after the other, each by its code. Pure.

What a broker or a refused plan says stays as it came.
"""

from collections.abc import Mapping
from typing import Final

from controlplane.common.said import Said, said_of
from controlplane.common.sentences import Param
from controlplane.common.words import storable

JUDGED: Final[Mapping[str, str]] = {
    # Why nobody is asked now.
    "off": "Scheduled rebalance is off.",
    "running": "The last one is under way.",
    "outside-window": "No maintenance window is open.",
    "window-opens": "The next one opens at {opens_at}.",
    "rests": "The last one ended a short time ago; another look is taken in {left_ms}.",
    "rests/failed": "The last one failed a short time ago; another look is taken in {left_ms}.",
    "later": "The cluster was looked at just now.",
    # What keeps it from being done.
    "look-failed": "The last look at the cluster failed: what it answers is not understood.",
    "cluster-silent": "The cluster does not answer: {error}.",
    "under-way": "{kind} is under way; one thing at a time.",
    "moving": "{partitions:one=# partition is|other=# partitions are} being moved already.",
    "broker-away": (
        "{brokers:one=# broker of the cluster is|other=# brokers of the cluster are} away."
    ),
    "healing": "A broker is about to be put on another host.",
    "under-replicated": (
        "{partitions:one=# partition is not in sync on all of its brokers"
        "|other=# partitions are not in sync on all of their brokers}."
    ),
    "sizes-unknown": "What some brokers hold is not known, and what is not known is not balanced.",
    "refused": "It is refused: {said}",
    # How far brokers are from the mean, and what is done.
    "balanced": (
        "Brokers are at most {bytes_percent} % from the mean by bytes and {leaders_percent} % by"
        " leaders; above {limit_percent} % something is moved."
    ),
    "far/bytes": (
        "Broker {broker} holds {held_gib} GiB, {percent} % from the mean of {mean_gib} GiB."
    ),
    "far/leaders": (
        "Broker {broker} is the preferred leader of"
        " {partitions:one=# partition|other=# partitions}, {percent} % from the mean of {mean}."
    ),
    "out-of-balance": "Above {limit_percent} % the cluster is rebalanced.",
    "nothing-better": "No move makes it better: {said}",
}
"""`kind` is an operation's, which consoles call by its name."""


def judged(sentence: str, **params: Param) -> Said:
    """Raises as `said_of`."""
    return said_of(JUDGED, sentence, **params)


def with_why(sentence: str, why: str) -> Said:
    """`refused` or `nothing-better`, by what somebody else said."""
    return judged(sentence, said=storable(why))
