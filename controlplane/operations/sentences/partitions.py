"""Warnings about offsets of groups, replicas that move, and leaders that are elected."""

from collections.abc import Mapping
from typing import Final

_PARTITIONS = "{partitions:one=# partition|other=# partitions}"
_MORE = "{more:none=|other= and # more}"

PARTITIONS: Final[Mapping[str, str]] = {
    "offsets-lost": (
        "Consumers that come back under this name begin where auto.offset.reset says: at the first"
        " record or the last."
    ),
    "unread": (
        "{records_are:exact=|least=At least }{records:unknown=An unknown number of records|"
        "one=# record|other=# records} of its topics are unread by this group."
    ),
    "new-group": "There is no group {group} on this cluster: this makes one. Check the name.",
    "new-group/again": "There is no group {group} now: this makes it again.",
    "commit-removed": (
        f"The commit in {_PARTITIONS} is removed: auto.offset.reset of the group's consumers then"
        " decides where they begin. earliest reads {reread:one=# record|other=# records} again,"
        " latest skips {skipped:one=# record|other=# records}, none is an error to them."
    ),
    "records-skipped": ("{records:one=# record|other=# records} will not be read by this group."),
    "records-reread": "{records:one=# record|other=# records} will be read a second time.",
    "no-leader": (
        f"{_PARTITIONS} without a leader now ({{names}}{_MORE}): where the log begins and ends is"
        " unknown, and the offset is left as it is."
    ),
    "no-commit": f"{_PARTITIONS} without a commit: left so.",
    "first-commit": (
        f"The group has no commit in {_PARTITIONS}: {{records:one=# record|other=# records}} will"
        " be read from there on."
    ),
    "unthrottled": "No limit: the move may take bandwidth from clients.",
    "throttle-is-wide": (
        "The limit holds for all replication of these partitions, not only the move."
    ),
    "throttle-is-coarse": (
        "The first fetch of a partition may pass whole, up to replica.fetch.max.bytes (1 MiB unless"
        " the brokers set another): small partitions move faster than the limit."
    ),
    "fewer-replicas": f"A replica less for {_PARTITIONS}.",
    "one-rack/replicas": f"All replicas on one rack in the end: {_PARTITIONS}.",
    "under-replicated": f"Not in sync now: {_PARTITIONS}.",
    "throttle-unknown": "Whether these brokers have a throttle is unknown: {brokers}.",
    "throttle-present": "These brokers have a throttle already: {brokers}.",
    "below-min-isr/moves": (
        f"Fewer replicas than min.insync.replicas asks for: {{topics}}{_MORE}. Producers with"
        " acks=all are refused there."
    ),
    "at-min-isr": (
        f"As many replicas as min.insync.replicas asks for: {{topics}}{_MORE}. While one of them is"
        " down producers with acks=all are refused there."
    ),
    "min-isr-unknown": f"min.insync.replicas could not be read of {{topics}}{_MORE}.",
    "adopts/replicas": (
        "Nothing is moved; where the replicas are is what this service wants from now on."
    ),
    "leaders-move/elect": (
        "{partitions:one=# partition gets|other=# partitions get} another leader; clients follow by"
        " themselves."
    ),
    "not-in-sync": (
        f"{_PARTITIONS} keep their leader: the broker that they prefer is not in sync, or not"
        " there."
    ),
    "left-out": f"{_PARTITIONS} more are left to the next plan: one takes at most {{most}}.",
}
