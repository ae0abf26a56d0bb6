"""Which replica a consumer should read from (KIP-392), by Kafka's `RackAwareReplicaSelector`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Candidate(NamedTuple):
    """A replica that has what the consumer asks for; `rack` is None where nobody has said."""

    broker_id: int
    rack: str | None
    log_end_offset: int
    behind_ms: int


def nearest(rack: str, leader: Candidate, followers: Iterable[Candidate]) -> int:
    """A replica on the consumer's rack; the leader if there is none, or it is there itself.

    Of several followers on the rack it is the one whose log ends last, then the one that was level
    with the leader last.
    """
    if not rack or leader.rack == rack:
        return leader.broker_id
    near = [each for each in followers if each.rack == rack]
    if not near:
        return leader.broker_id
    best = max(near, key=lambda each: (each.log_end_offset, -each.behind_ms, each.broker_id))
    return best.broker_id
