"""What has happened to the groups that a broker coordinates, as Kafka counts it."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(slots=True)
class GroupTally:
    """Since the start; one for all shards of a broker, which come and go with leadership."""

    commits: int = 0
    """Offsets stored by commits, in transactions or not."""
    expirations: int = 0
    """Offsets that nobody needed any more."""
    deletions: int = 0
    """Offsets deleted by OffsetDelete."""
    completed_rebalances: int = 0
    """Generations of classic groups whose assignment was stored."""
    consumer_rebalances: int = 0
    """New epochs of groups of the consumer protocol."""
