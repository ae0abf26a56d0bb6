"""What operators' plans about hosts warn of."""

from collections.abc import Mapping
from typing import Final

_OWED = "{brokers:one=# broker|other=# brokers}"

HOSTS: Final[Mapping[str, str]] = {
    "moved-one-by-one": (
        "They leave one after another, each by an operation of its own, while nothing else of its"
        " cluster is out of sync; the drain can be paused between two."
    ),
    "host-away": "Its agent is away, so nobody can stop them there: they wait for it.",
    "deletion-owed": (
        f"Its disk still holds what it had of {_OWED}. It is told to wipe that when it joins again."
    ),
    "recent": "Its agent wrote {age_s} ago: it may only be restarting.",
    "loss-unknown": "What only {host} has of {cluster} is not known.",
    "data-loss/host": (
        "{cluster}: {partitions:one=# partition|other=# partitions} with all replicas there or on"
        " brokers lost before; what is in them is lost."
    ),
}
