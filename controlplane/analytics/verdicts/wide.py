"""Many groups on topics side by side, as if they were one with all their partitions.

A formula over arrays costs the same for 10 partitions as for 1,000, and every group of a cluster is
sampled at the same times: those with the same windows are computed together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from controlplane.analytics.verdicts.logs import TopicLogs, padded
from controlplane.analytics.verdicts.partitions import Partitions, partitions
from controlplane.analytics.verdicts.trails import GroupTrail, Stand
from spark_analytics.contracts.rules import Rules
from spark_analytics.formulas.known import Floats, Truths

WIDTH_MAX = 1_024
"""Partitions side by side: their pairwise slopes stay within 4 MiB."""
_STANDING = ("committed", "start", "end", "changed_ms", "waiting_ms", "step")
_EARLIER = frozenset({"committed", "end", "step"})
"""What of earlier windows is asked for."""
_NOTHING = np.empty(0)
_BY_PARTITION = ("size_bytes", "oldest_ts_ms")
_OF_TOPIC = ("retention_ms", "retention_bytes")


@dataclass(frozen=True, slots=True)
class Pair:
    """A group on a topic; `logs` are None where the topic was not sampled as the group was."""

    group: str
    topic: str
    trail: GroupTrail
    logs: TopicLogs | None
    history_is_whole: bool

    @property
    def width(self) -> int:
        return len(self.trail.stands[-1].committed)


@dataclass(slots=True)
class _WideTrail:
    stands: list[Stand]

    def trend(self) -> list[Stand]:
        return self.stands


@dataclass(slots=True)
class _WideLogs:
    now: dict[str, Any] | None
    found: tuple[Floats, Floats, Truths] = field(repr=False)

    def samples(self) -> tuple[Floats, Floats, Truths]:
        return self.found


def partitions_of(pairs: Sequence[Pair], rules: Rules) -> list[Partitions]:
    """`partitions` of each pair, in their order."""
    found: list[Partitions | None] = [None] * len(pairs)
    for members in _together(pairs):
        some = [pairs[at] for at in members]
        for at, one in zip(members, _computed(some, rules), strict=True):
            found[at] = one
    return [one for one in found if one is not None]


def _together(pairs: Sequence[Pair]) -> Iterator[list[int]]:
    """Indexes of pairs with the same windows, up to `WIDTH_MAX` partitions."""
    alike: dict[Any, list[int]] = {}
    widths: dict[Any, int] = {}
    for at, pair in enumerate(pairs):
        key = _key(pair)
        width = pair.width
        if key in alike and widths[key] + width > WIDTH_MAX:
            yield alike.pop(key)
        if key not in alike:
            alike[key], widths[key] = [], 0
        alike[key].append(at)
        widths[key] += width
    yield from alike.values()


def _key(pair: Pair) -> Any:
    """What has to be the same for two pairs to be computed as one."""
    times = tuple(stand.ts_ms for stand in pair.trail.trend())
    window = pair.trail.stands[-1].window
    if pair.logs is None:
        return times, window, pair.history_is_whole
    now = pair.logs.now
    return (
        times,
        window,
        pair.history_is_whole,
        pair.logs.samples()[0].tobytes(),
        None if now is None else now["window"],
    )


def _computed(pairs: Sequence[Pair], rules: Rules) -> list[Partitions]:
    whole = pairs[0].history_is_whole
    if len(pairs) == 1:
        return [partitions(pairs[0].trail, pairs[0].logs, rules, history_is_whole=whole)]
    widths = [pair.width for pair in pairs]
    trail = _WideTrail(_stands(pairs, widths))
    found = partitions(trail, _logs(pairs, widths), rules, history_is_whole=whole)
    ends = np.cumsum(widths).tolist()
    return [
        Partitions(
            {name: values[end - width : end] for name, values in found.facts.items()},
            found.method[end - width : end],
        )
        for end, width in zip(ends, widths, strict=True)
    ]


def _stands(pairs: Sequence[Pair], widths: Sequence[int]) -> list[Stand]:
    """Side by side, each as wide as its topic is now."""
    found = []
    rows = list(zip(*(pair.trail.trend() for pair in pairs), strict=True))
    for standing in rows:
        first, is_last = standing[0], standing is rows[-1]
        arrays = {
            name: np.concatenate(
                [
                    padded(getattr(stand, name), width)[:width]
                    for stand, width in zip(standing, widths, strict=True)
                ]
            )
            if is_last or name in _EARLIER
            else _NOTHING
            for name in _STANDING
        }
        found.append(
            Stand(
                window=first.window,
                ts_ms=first.ts_ms,
                **arrays,
                state=None,
                members=np.nan,
                lag_records=np.nan,
            )
        )
    return found


def _logs(pairs: Sequence[Pair], widths: Sequence[int]) -> _WideLogs | None:
    logs = [pair.logs for pair in pairs if pair.logs is not None]
    if not logs:
        return None
    sampled = [one.samples() for one in logs]
    ends = np.hstack(
        [_columns(found[1], width, np.nan) for found, width in zip(sampled, widths, strict=True)]
    )
    is_true = np.hstack(
        [_columns(found[2], width, False) for found, width in zip(sampled, widths, strict=True)]
    )
    news = [one.now for one in logs if one.now is not None]
    now: dict[str, Any] | None = None
    if news:
        now = {"window": news[0]["window"]}
        for name in _BY_PARTITION:
            now[name] = np.concatenate(
                [padded(one[name], width)[:width] for one, width in zip(news, widths, strict=True)]
            )
        for name in _OF_TOPIC:
            now[name] = np.repeat([one[name] for one in news], widths)
    return _WideLogs(now, (sampled[0][0], ends, is_true))


def _columns(values: Any, width: int, filler: Any) -> Any:
    more = width - values.shape[1]
    if more <= 0:
        return values[:, :width]
    return np.pad(values, ((0, 0), (0, more)), constant_values=filler)
