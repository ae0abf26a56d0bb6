"""A small random world: topics that grow, are truncated or created again, and groups that read them.

Gives telemetry slices as the collector would write them, as plain dictionaries.
"""

from __future__ import annotations

import random
from typing import Any

START_MS = 1_760_000_010_000 - 1_760_000_010_000 % 30_000


def slices(
    seed: int, *, ticks: int = 120, cluster_id: str | None = None, cuts_are_seen: bool = False
) -> list[dict[str, Any]]:
    """`cuts_are_seen`: whenever a log end falls, a topic id or a leader epoch says why."""
    dice = random.Random(seed)
    cluster = cluster_id or f"cl_{seed}"
    partitions = dice.randint(1, 3)
    rate = [dice.choice([0, 3, 40]) for _ in range(partitions)]
    start = [dice.choice([0, 500]) for _ in range(partitions)]
    end = list(start)
    for p in range(partitions):
        if rate[p]:
            end[p] += dice.choice([0, 1000])
    # Old brokers know no topic ids.
    topic_ids = dice.random() < 0.7 or cuts_are_seen
    created, epoch = 1, [1] * partitions
    retention_ms = dice.choice([-1, 60_000, 3_600_000, 604_800_000])
    retention_bytes = dice.choice([-1, -1, 200_000])
    groups = [_Group(dice, f"g{i}", start, end) for i in range(dice.randint(1, 3))]
    rows: list[dict[str, Any]] = []
    now = START_MS + dice.randint(0, 20_000)
    for tick in range(ticks):
        for p in range(partitions):
            end[p] += int(rate[p] * dice.uniform(0, 2))
            if dice.random() < 0.05:
                start[p] = min(end[p], start[p] + dice.randint(0, 300))
            if dice.random() < 0.004:
                end[p] = max(start[p], end[p] - dice.randint(1, 200))
                # Unless the leader came and went between two samples.
                epoch[p] += dice.random() < 0.8 or cuts_are_seen
            if dice.random() < 0.01:
                epoch[p] += 1
        if dice.random() < 0.005:
            start, end = [0] * partitions, [0] * partitions
            created, epoch = created + 1, [0] * partitions
        unknown = dice.random() < 0.01
        oldest = [
            now - dice.randint(0, 500_000) if e > s else None
            for s, e in zip(start, end, strict=True)
        ]
        order = list(range(partitions))
        dice.shuffle(order)

        def pick(values, order=order):
            return [values[p] for p in order]

        ends = [None] * partitions if unknown else list(end)
        if dice.random() > 0.03:
            rows.append(
                {
                    "v": 1,
                    "kind": "topic",
                    "ts_ms": now,
                    "cluster_id": cluster,
                    "topic": "t",
                    "topic_id": f"t-{created}" if topic_ids else None,
                    "retention_ms": retention_ms,
                    "retention_bytes": retention_bytes,
                    "partition": order,
                    "leader_epoch": pick(epoch),
                    "log_start_offset": pick(start),
                    "log_end_offset": pick(ends),
                    "size_bytes": [100 * (end[p] - start[p]) for p in order],
                    "oldest_ts_ms": pick(oldest),
                }
            )
        for group in groups:
            group.read(dice, start, end)
            rows.append(
                {
                    "v": 1,
                    "kind": "group",
                    "ts_ms": now,
                    "cluster_id": cluster,
                    "group": group.name,
                    "topic": "t",
                    "topic_id": f"t-{created}" if topic_ids else None,
                    "state": "Stable" if group.members else "Empty",
                    "members": group.members,
                    "partition": order,
                    "committed_offset": pick(group.committed),
                    "log_start_offset": pick(start),
                    "log_end_offset": pick(ends),
                }
            )
        now += dice.choice([9_900, 10_000, 10_100, 10_000, 45_000 if tick % 40 == 0 else 10_000])
    return rows


class _Group:
    def __init__(self, dice: random.Random, name: str, start: list[int], end: list[int]) -> None:
        self.name = name
        self.members = dice.choice([0, 1, 2])
        self.rate = dice.choice([0, 2, 20, 100]) if self.members else 0
        self.committed = [
            dice.choice([-1, s, dice.randint(s, e), e]) for s, e in zip(start, end, strict=True)
        ]

    def read(self, dice: random.Random, start: list[int], end: list[int]) -> None:
        for p in range(len(end)):
            at = self.committed[p]
            if self.rate and at >= 0:
                self.committed[p] = min(
                    max(at, start[p]) + int(self.rate * dice.random() * 2), end[p]
                )
            if at > end[p]:
                self.committed[p] = end[p]
        if dice.random() < 0.01 and self.rate:
            self.committed = list(start)
