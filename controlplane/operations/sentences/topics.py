"""Warnings about topics and their settings."""

from collections.abc import Mapping
from typing import Final

_REPLICAS = "{replicas:one=# replica|other=# replicas}"
_AND_GROUPS = "{more:none=|one= and # more group|other= and # more groups}"
_ONLY_GROUPS = "{more:one=# group|other=# groups}"
_LEASE = "After {lease_s} the service puts retention.ms back to"

TOPICS: Final[Mapping[str, str]] = {
    "low-replication": (
        "Replication factor {replicas}: losing {replicas:one=# broker|other=# brokers} can lose"
        " data."
    ),
    "default-unknown": (
        "{key} goes back to its default, which the brokers do not report: what it does to the data"
        " cannot be foreseen."
    ),
    "compact-to-delete": (
        "Leaving compaction: records older than the retention are deleted, the last value of a key"
        " too."
    ),
    "compact-to-delete/both": (
        "The retention holds from now on: records older than it are deleted, the last value of a"
        " key too."
    ),
    "delete-to-compact": (
        "Of each key only the latest value is kept: the older ones go, and undoing this does not"
        " bring them back. Records without a key will be refused."
    ),
    "retention-cut/time": (
        "retention.ms falls to {kept_ms}: what is beyond it is deleted for good."
    ),
    "retention-cut/size": (
        "retention.bytes falls to {kept_bytes}: what is beyond it is deleted for good."
    ),
    "unwritable": f"{{key}} {{least}} with {_REPLICAS}: acks=all can never succeed.",
    "no-slack": (
        f"{{key}} {{least}} with {_REPLICAS}: one broker down stops every acks=all write."
    ),
    "no-slack/topic": (
        f"{{key}} {{least}} of {_REPLICAS}: one broker down stops every acks=all write."
    ),
    "weak-acks": (
        "min.insync.replicas 1: acks=all may mean the leader alone, and losing it then loses"
        " records that were acknowledged."
    ),
    "unclean-election": (
        "unclean.leader.election.enable: a replica that is behind may become the leader;"
        " acknowledged records are lost then."
    ),
    "tiny-messages": (
        "max.message.bytes {limit}: larger batches are refused, and producers fill theirs up to"
        " {batch:one=# byte|other=# bytes} unless they are set otherwise."
    ),
    "tiny-segments": (
        "segment.bytes {size}: every partition becomes many small files, each of them open on its"
        " brokers."
    ),
    "remote-deleted": (
        "remote.storage.enable is off and remote.log.delete.on.disable on: what the topic holds in"
        " remote storage is deleted for good."
    ),
    "kept-longer/time": (
        "retention.ms of {kept_ms} is less than segment.ms of {rolled_ms}: data goes by whole"
        " segments, so it may stay {rolled_ms} longer."
    ),
    "kept-longer/size": (
        "retention.bytes of {kept_bytes} is less than segment.bytes of {rolled_bytes}: data goes by"
        " whole segments, so it may stay {rolled_bytes} longer."
    ),
    "keys-move": (
        "A key may map to another partition from now on: order per key is broken at the change."
    ),
    "keys-move/keyed": (
        "A key may map to another partition from now on: order per key is broken at the change."
        " This topic is compacted, so it is keyed."
    ),
    "rebalance": (
        "{groups_are:exact=|least=At least }{groups:unknown=An unknown number of groups|"
        "one=# group|other=# groups} will rebalance."
    ),
    "data-loss/topic": (
        "{records_are:exact=|least=At least }{records:unknown=An unknown number of records|"
        "one=# record|other=# records} ({size_are:exact=|least=at least }"
        "{size_bytes:unknown=an unknown number of bytes}) {records:unknown=are|one=is|other=are}"
        " deleted."
    ),
    "data-loss/emptied": (
        "{records_are:exact=|least=At least }{records:unknown=An unknown number of records|"
        "one=# record|other=# records} are deleted on every replica: {size_are:exact=|"
        "least=at least }{size_bytes:unknown=an unknown number of bytes}."
    ),
    "later-stays": (
        "What producers write after this plan was made stays: it goes up to the offsets below."
    ),
    # Stored plans name these two, whose texts are put together when they are shown: they keep their
    # codes and parameters.
    "active-readers": f"Reading it right now: {{names}}{_AND_GROUPS}.",
    "active-readers/hidden": f"Reading it right now: {_ONLY_GROUPS}.",
    "unread-lost": f"Not read yet, and never to be read: by {{names}}{_AND_GROUPS}.",
    "unread-lost/hidden": f"Not read yet, and never to be read: by {_ONLY_GROUPS}.",
    "ends-lease": (
        "retention.ms is held by a lease until {until_at}. What is set now stays: the lease does"
        " not put back what was there before it."
    ),
    "restores-itself": (
        f"{_LEASE} {{before_ms:unknown=its default}}: what is older is deleted then, read or not."
    ),
    "restores-itself/for-ever": (f"{_LEASE} for ever: what is older is deleted then, read or not."),
    "cut-by-size": (
        "retention.bytes is {size} a partition: at the rate it is written to, records are deleted"
        " by size before the longer time is over."
    ),
    "disk-unknown": ("Whether the disks have room for it is not known of all brokers: {reasons}."),
    "disk-unknown/no-places": (
        "Whether the disks have room for it is not known of all brokers: no broker says where its"
        " replicas are."
    ),
    "retention-stays": (
        "The raised retention of {names}{more:none=|one= and of # more topic|"
        "other= and of # more topics} stays: nobody puts it back once the cluster is let go. End"
        " the lease first (topic.retention_restore)."
    ),
    "adopts": (
        "Nothing is changed at the brokers; what they have is what this service wants from now on."
    ),
}
