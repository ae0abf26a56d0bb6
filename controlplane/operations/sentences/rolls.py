"""Warnings about brokers that are restarted, moved, or start with something else."""

from collections.abc import Mapping
from typing import Final

_TOPICS = "{topics:one=# topic|other=# topics}"
_BROKERS = "{brokers:one=# broker|other=# brokers}"

ROLLS: Final[Mapping[str, str]] = {
    "partitions-offline/broker": (
        f"While it is away nobody serves partitions of {_TOPICS}: no other replica is in sync."
        " Clients wait or fail."
    ),
    "partitions-offline/roll": (
        f"{_TOPICS} with partitions that have one replica only: nobody serves them while their"
        " broker is away. Clients wait or fail."
    ),
    "below-min-isr/broker": (
        f"While it is away acks=all is refused by partitions of {_TOPICS}, which then have fewer in"
        " sync than min.insync.replicas."
    ),
    "below-min-isr/roll": (
        f"{_TOPICS} with partitions that need all their replicas (min.insync.replicas): acks=all is"
        " refused while one of them is away."
    ),
    "brokers-away": (
        "Not up now, so taken first: {brokers}. No other one is taken before all are up and in"
        " sync."
    ),
    "not-all": "The other brokers of the cluster go on as they are.",
    "probe": ("To say how long clients waited the service writes to {topic}, a topic of its own."),
    "leaders-move/broker": (
        "{partitions:one=# partition|other=# partitions} get another leader; clients follow by"
        " themselves."
    ),
    "leaders-move/roll": (
        "Every partition that a broker leads gets another leader before it stops, and its own again"
        " afterwards; clients follow by themselves."
    ),
    "leaders-move/replace": (
        "What it leads gets other leaders before it stops; clients follow by themselves, and find"
        " its new address in the cluster's metadata."
    ),
    "redundancy-lower": (
        "Until its replicas are in sync there, each of its partitions has one replica less: another"
        " broker that fails meanwhile takes more with it."
    ),
    "old-data-wiped": "Whatever its host still has of it is wiped should that come back.",
    "no-limit": (
        "It reads all that it had as fast as the others can send, which clients may feel: nothing"
        " limits it."
    ),
    "limited": (
        "What it reads anew is limited to {limit_bytes_per_s} on each broker; the limit is taken"
        " off at the end, and when the operation ends otherwise."
    ),
    "both-addresses": (
        "Until the end the hosts have to be reachable at the addresses of before and at the new"
        " ones: brokers that were not taken yet are at the former."
    ),
    "clients-begin": (
        "Clients that run follow by metadata. Those that begin anew need the new addresses:"
        " {addresses}"
    ),
    "hosts-away": f"Not known of {_BROKERS}: the host's agent is away.",
    "both-strings": (
        "Until the end both connect strings have to lead to the ensemble: brokers that were not"
        " taken yet use the one of before, and one that does not come back gets it again."
    ),
    "replicas-stay": (
        "Replicas stay where they are: a new one goes to the directory with the fewest."
    ),
    "same-disk": (
        "Of broker {brokers} the directory lies on a disk that it uses already: it gives no more"
        " room, and fails with it."
    ),
    "made-anew": (
        "{directory} of broker {brokers} has failed: what lies there is not moved but read anew"
        " from the other replicas, and is gone if the disk comes back."
    ),
    "room-unknown": "How much room there is nobody says.",
    "way-back/any-time": (
        "Brokers may go back to {before} at any time: it knows every protocol that {after} speaks."
    ),
    "way-back/until-raised": (
        "Brokers may go back to {before} as long as they speak {protocol}: until the protocol is"
        " raised by cluster.finalize_version."
    ),
    "way-back/all-know": (
        "Every version on the hosts knows {protocol}: brokers may still go back to each."
    ),
    "no-way-back": "There is no way back to {before}: {reason}",
    "no-way-back/gone": "There is no way back to {before}: It is not there.",
    "no-way-back/raised": (
        "Afterwards brokers cannot go back to {versions}, which does not know {protocol}."
    ),
    "protocol-stays": (
        "The brokers go on speaking {protocol} to each other. {release} knows {newest}: that is a"
        " decision of its own, when all run it."
    ),
}
