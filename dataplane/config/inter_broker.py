"""What brokers send each other, by `inter.broker.protocol.version`.

While brokers of two releases are in a cluster they speak what the older one knows: the version is a
setting, raised when all run the new one. A broker of a later setting understands one of an earlier
and the other way round, because a receiver reads every version that it serves: what the setting
decides is what is sent, and by that what a release of before can still read.

Requests that are not here (the login, ListOffsets, WriteTxnMarkers, AddPartitionsToTxn,
ControlledShutdown) are the same in every version of the table, and so are the nodes in ZooKeeper
and the records of the coordinators' logs.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from dataplane.config.keys.versions import VERSIONS, full_version
from dataplane.config.release import NEWEST_PROTOCOL

PROTOCOL_KEY: Final = "inter.broker.protocol.version"


class InterBroker(NamedTuple):
    """Versions of the requests among brokers: a follower's Fetch, the controller's commands, and
    a leader's proposal of another ISR.
    """

    fetch: int
    leader_and_isr: int
    update_metadata: int
    stop_replica: int
    alter_partition: int


class Stage(NamedTuple):
    """From which protocol version on, what is sent, and what is new in it."""

    since: str
    sends: InterBroker
    change: str


STAGES: Final = (
    Stage(
        "3.2-IV0",
        InterBroker(
            fetch=13, leader_and_isr=6, update_metadata=7, stop_replica=3, alter_partition=2
        ),
        "Fetch and AlterPartition name topics by id; leaders say whether they recover.",
    ),
    Stage(
        "3.4-IV0",
        InterBroker(
            fetch=13, leader_and_isr=7, update_metadata=8, stop_replica=4, alter_partition=2
        ),
        "The controller's commands say which kind of controller gives them.",
    ),
    Stage(
        "3.5-IV0",
        InterBroker(
            fetch=14, leader_and_isr=7, update_metadata=8, stop_replica=4, alter_partition=2
        ),
        "Followers understand that records have moved to tiered storage.",
    ),
    Stage(
        "3.5-IV1",
        InterBroker(
            fetch=15, leader_and_isr=7, update_metadata=8, stop_replica=4, alter_partition=3
        ),
        "Followers and leaders name the broker's epoch, so that one that was restarted meanwhile is"
        " not taken for in sync (KIP-903).",
    ),
    Stage(
        "3.7-IV4",
        InterBroker(
            fetch=16, leader_and_isr=7, update_metadata=8, stop_replica=4, alter_partition=3
        ),
        "A leader that moved is named in the answer to Fetch (KIP-951).",
    ),
    Stage(
        "3.9-IV0",
        InterBroker(
            fetch=17, leader_and_isr=7, update_metadata=8, stop_replica=4, alter_partition=3
        ),
        "Followers may name the log directory that they fetch into (KIP-853).",
    ),
)
"""The oldest first."""

NEWEST: Final = STAGES[-1].sends


def protocol_rank(text: str) -> int | None:
    """Where a version stands among all of Kafka's, the later the higher; None for none of them."""
    found = full_version(text)
    return None if found is None else VERSIONS.index(found)


def sends_at(text: str) -> InterBroker:
    """What a broker of this protocol version sends; below the first stage what that sends."""
    rank = protocol_rank(text)
    if rank is None:
        rank = VERSIONS.index(NEWEST_PROTOCOL)
    return max(
        (stage for stage in STAGES if _rank(stage.since) <= rank), key=_by_rank, default=STAGES[0]
    ).sends


def changes_between(before: str, after: str) -> list[str]:
    """What is new in `after`, a sentence each, the oldest first; none where it is no later one."""
    low, high = protocol_rank(before), protocol_rank(after)
    if low is None or high is None:
        return []
    return [
        f"{stage.since}: {stage.change}" for stage in STAGES if low < _rank(stage.since) <= high
    ]


def _rank(since: str) -> int:
    return VERSIONS.index(since)


def _by_rank(stage: Stage) -> int:
    return _rank(stage.since)
