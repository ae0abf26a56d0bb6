"""What self-healing says of a decision and of a case: sentences by their codes, one after the
other. Pure.

No sentence names a host: tenants read them. What comes from elsewhere (a plan that is refused, an
operation that failed) stays as it came.
"""

from collections.abc import Mapping
from typing import Final

from controlplane.common.said import Said, said_of
from controlplane.common.sentences import Param
from controlplane.common.words import storable

TEXT_MAX = 1_000
"""Of all sentences together, as rows keep them."""

DECIDED: Final[Mapping[str, str]] = {
    "off": "Self-healing is off.",
    "zookeeper-unsure": "ZooKeeper does not answer: which hosts are silent is not known.",
    "look-failed": "The last look at the cluster failed; another one is taken.",
    "well": "Every host of the cluster is there.",
    "crash-loop": (
        "Broker {broker} has ended {restarts:one=# time|other=# times}. Its agent starts it again,"
        " at most each 30 s; another host would not mend what ends it."
    ),
    "why/lost": "The host of broker {broker} was declared lost.",
    "why/silent": "The host of broker {broker} is silent for {silent_ms}.",
    # Nothing is known to be wrong with it, or not for long enough.
    "broker-up": "The agent of broker {broker}'s host is silent; the broker is up and goes on.",
    "cluster-silent": "Whether broker {broker} is up could not be asked.",
    "dismissed": "Somebody said that broker {broker} is not to be put elsewhere.",
    "too-soon": "It is waited for another {left_ms}.",
    # What keeps it from being done.
    "several-silent": (
        "{hosts:one=# host|other=# hosts} fell silent at about the same time or since: that may be"
        " a cut of the network, so nothing is done by itself."
    ),
    "under-way": "{kind} is under way; one thing at a time.",
    "failed-before": "The last try failed; it is tried again later.",
    "bound-reached": (
        "{brokers:one=# broker was|other=# brokers were} put elsewhere in the last 24 hours."
    ),
    "outside-window": "No maintenance window is open, and no partition fails.",
    "window-opens": "The next one opens at {opens_at}.",
    "refused": "It is refused: {said}",
    # What is done.
    "partitions-fail": "Partitions fail already, so no window is waited for.",
    "proposed": "Putting broker {broker} on another host is proposed.",
    "replace": "Broker {broker} is put on another host.",
    # How a case went on.
    "confirmed": "{by} has it put on another host.",
    "said-no": "{by} said no.",
    "healed": "Broker {broker} is in sync on another host.",
    "not-succeeded": "The replacement did not succeed.",
    "as-it-came": "{said}",
}
"""What begins with `why/` says why a broker is looked at. `kind` is an operation's, which consoles
call by its name.
"""


def decided(sentence: str, **params: Param) -> Said:
    """Raises as `said_of`."""
    return said_of(DECIDED, sentence, **params)


def as_it_came(text: str) -> Said:
    """A sentence of an operation that failed."""
    return decided("as-it-came", said=storable(text))


def refused(why: str) -> Said:
    """By the plan, whose sentence `why` is."""
    return decided("refused", said=storable(why))
