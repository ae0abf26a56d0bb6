"""What plans about hosts say, each sentence by its code. Pure.

What they warn of are warnings as others (`operations/sentences/hosts.py`); why a host gets no
broker is `clusters/placing_sentences.py`.
"""

from collections.abc import Mapping
from typing import Final

from controlplane.clusters.host_states import CORDON, DECLARE_LOST, DRAIN, REMOVE, UNCORDON, WHY_NOT
from controlplane.clusters.placing_sentences import LACKS

SUMMARIES: Final[Mapping[str, str]] = {
    CORDON: ("{host} gets no new brokers; its {brokers:one=# broker goes|other=# brokers go} on."),
    UNCORDON: "{host} gets new brokers again.",
    DRAIN: (
        "{host} gets no new brokers, and its {brokers:one=# broker is|other=# brokers are} to leave"
        " it."
    ),
    DECLARE_LOST: (
        "{brokers:one=# broker|other=# brokers} on {host} {brokers:one=counts|other=count} as gone."
        " What it has of them is wiped should it come back."
    ),
    REMOVE: "The nodes of {host} in ZooKeeper go, and with them its login and its key.",
}
"""What an act does, by the act."""

REFUSALS: Final[Mapping[str, str]] = {
    **WHY_NOT,
    "host-in-use": "Brokers belong on it: {names}{more:none=|other= and # more}.",
    "host-alive/remove": "The agent of {host} lives: stop it first.",
    "host-alive/lost": "The agent of {host} lives: a host that is there is not lost.",
    "host-away": "Its agent is away.",
    "deletion-owed": (
        "It still has to wipe what it had of {brokers:one=# broker|other=# brokers}."
    ),
    "operation-under-way": (
        "On {cluster} an operation is under way ({kind}): it has to end first, or be cancelled."
    ),
}
"""Why an act cannot be done now. `kind` is one of operations."""

NOWHERE: Final[Mapping[str, str]] = {
    **LACKS,
    "lead/host": "{host}:",
    "no-other-host": "There is no other host.",
}
"""Why a broker could go nowhere: of each host its name, which leads in why it gets none."""
