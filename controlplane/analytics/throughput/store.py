"""The kept steps: each sample that ends one adds to them, and takes away what is past its keep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from django.db import transaction

from controlplane.analytics.slices import Sample
from controlplane.analytics.throughput.consumed import (
    CELLS_MAX,
    Consumed,
    cells_of,
    consumed_between,
    packed_consumed,
)
from controlplane.analytics.throughput.packing import (
    Layout,
    layouts,
    packed_positions,
    packed_rates,
    shard_of,
    unpacked_keys,
    unpacked_positions,
    unpacked_rates,
)
from controlplane.analytics.throughput.rates import (
    Key,
    Positions,
    Rates,
    positions,
    rates_between,
)
from controlplane.analytics.throughput_models import (
    CONSUMED,
    GROUPS,
    OUTLINE,
    PARTITIONS,
    TOPICS,
    ThroughputBlock,
    ThroughputLayout,
    ThroughputState,
)

STEP_S = 30
STEP_MS = STEP_S * 1000
HOUR_S, DAY_S = 3600, 24 * 3600
KEPT_S: Mapping[str, int] = {
    OUTLINE: DAY_S,
    TOPICS: HOUR_S,
    GROUPS: HOUR_S,
    PARTITIONS: HOUR_S,
    CONSUMED: HOUR_S,
}
"""How far back each kind reaches; cluster and brokers have no other history by broker."""
SERIES_MAX: Mapping[str, int] = {
    OUTLINE: 10_000,
    TOPICS: 20_000,
    GROUPS: 50_000,
    PARTITIONS: 50_000,
    CONSUMED: CELLS_MAX,
}
"""Of one cluster. Of a kind with more none is kept, and answers say so. What is consumed is by the
layouts of groups, so that without those it is not kept either."""
STALE_AFTER_S = 3 * STEP_S
_KINDS = {"c": OUTLINE, "b": OUTLINE, "t": TOPICS, "g": GROUPS, "p": PARTITIONS}


def note(cluster_id: str, sample: Sample) -> bool:
    """Take a sample in. True when it ended a step; the others change nothing.

    Raises:
        ArithmeticError, LookupError, TypeError, ValueError: what brokers said makes no rates.
    """
    before = ThroughputState.objects.filter(pk=cluster_id).first()
    if before is not None and not _ends_step(before.ts_ms, sample.ts_ms):
        return False
    after = positions(sample)
    step = None if before is None else _since(before, after)
    with transaction.atomic():
        if not _moved_on(cluster_id, before, after, step.left_out() if step else []):
            return False
        if step is not None:
            _keep(cluster_id, after.ts_ms // STEP_MS * STEP_MS, step)
        _forget_old(cluster_id, after.ts_ms)
    return True


def _ends_step(last_ms: int, now_ms: int) -> bool:
    """A clock that was set far back begins anew, and does not wait until it is there again."""
    return now_ms // STEP_MS > last_ms // STEP_MS or last_ms - now_ms > DAY_S * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """What happened from one look to the next, `span_ms` later."""

    span_ms: int
    rates: Mapping[Key, Rates]
    consumed: Consumed

    def by_kind(self) -> dict[str, list[Key]]:
        found: dict[str, list[Key]] = {}
        for key in self.rates:
            found.setdefault(_KINDS[key[0]], []).append(key)
        return found

    def left_out(self) -> list[str]:
        counts = {kind: len(keys) for kind, keys in self.by_kind().items()}
        counts[CONSUMED] = cells_of(self.consumed)
        gone = {kind for kind, count in counts.items() if count > SERIES_MAX[kind]}
        return sorted(gone | ({CONSUMED} if GROUPS in gone else set()))


def _since(before: ThroughputState, after: Positions) -> _Step | None:
    was = unpacked_positions(bytes(before.positions))
    rates = None if was is None else rates_between(was, after)
    if was is None or rates is None:
        return None
    return _Step(
        span_ms=after.ts_ms - was.ts_ms, rates=rates, consumed=consumed_between(was, after)
    )


def _moved_on(
    cluster_id: str, before: ThroughputState | None, after: Positions, left_out: list[str]
) -> bool:
    """False when another sample did so meanwhile."""
    values = {
        "ts_ms": after.ts_ms,
        "positions": packed_positions(after),
        "left_out": left_out,
    }
    if before is None:
        return ThroughputState.objects.get_or_create(pk=cluster_id, defaults=values)[1]
    mine = ThroughputState.objects.filter(pk=cluster_id, ts_ms=before.ts_ms)
    return mine.update(**values) == 1


@dataclass(frozen=True, slots=True)
class _Block:
    kind: str
    layout: Layout
    rates: bytes


def _blocks(step: _Step) -> Iterator[_Block]:
    left_out = step.left_out()
    for kind, keys in step.by_kind().items():
        for layout in layouts(kind, keys) if kind not in left_out else ():
            yield _Block(kind, layout, packed_rates(layout.keys, step.rates))
            if kind == GROUPS and CONSUMED not in left_out:
                packed = packed_consumed(layout.keys, step.consumed, step.span_ms)
                yield _Block(CONSUMED, layout.of_kind(CONSUMED), packed)


def _keep(cluster_id: str, ts_ms: int, step: _Step) -> None:
    made = list(_blocks(step))
    marks = [block.layout.mark for block in made]
    mine = ThroughputLayout.objects.filter(cluster_id=cluster_id, mark__in=marks)
    there = set(mine.values_list("mark", flat=True))
    ThroughputLayout.objects.bulk_create(
        [
            ThroughputLayout(
                cluster_id=cluster_id,
                mark=block.layout.mark,
                kind=block.kind,
                shard=block.layout.shard,
                shards=block.layout.shards,
                keys=block.layout.packed(),
            )
            for block in made
            if block.layout.mark not in there
        ],
        ignore_conflicts=True,
    )
    ThroughputBlock.objects.bulk_create(
        [
            ThroughputBlock(
                cluster_id=cluster_id,
                kind=block.kind,
                mark=block.layout.mark,
                ts_ms=ts_ms,
                rates=block.rates,
            )
            for block in made
        ],
        ignore_conflicts=True,
    )


def _forget_old(cluster_id: str, now_ms: int) -> None:
    """Also blocks of a clock that went ahead."""
    mine = ThroughputBlock.objects.filter(cluster_id=cluster_id)
    gone = mine.filter(ts_ms__gt=now_ms + STEP_MS).delete()[0]
    for kind, kept_s in KEPT_S.items():
        old_ms = now_ms - (kept_s + STALE_AFTER_S) * 1000
        gone += mine.filter(kind=kind, ts_ms__lt=old_ms).delete()[0]
    if gone:
        used = mine.values("mark").distinct()
        ThroughputLayout.objects.filter(cluster_id=cluster_id).exclude(mark__in=used).delete()


def forget(before_ms: int) -> None:
    """Of clusters that nobody has sampled since then."""
    left = list(
        ThroughputState.objects.filter(ts_ms__lt=before_ms).values_list("pk", flat=True)[:1_000]
    )
    for model in (ThroughputBlock, ThroughputLayout, ThroughputState):
        model._default_manager.filter(cluster_id__in=left).delete()  # noqa: SLF001 - Django's documented name


# -- reading --------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Wanted:
    """Series by the first name of their keys: topics, groups, or all of a kind (None)."""

    names: frozenset[str] | None = None

    def is_one(self, key: Key) -> bool:
        return self.names is None or (len(key) > 1 and key[1] in self.names)

    def may_be_in(self, shard: int, shards: int) -> bool:
        if self.names is None:
            return True
        return any(shard_of(name, shards) == shard for name in self.names)


def named(names: Iterable[str]) -> Wanted:
    return Wanted(frozenset(names))


EVERY = Wanted()


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """Rates by series and by the beginnings of steps, as far as there are any.

    Attributes:
        newest_ms: when the newest step ended, of whatever series; None: there is none.
        left_out: there are more series of this kind than are kept.
    """

    newest_ms: int | None
    rates: Mapping[Key, Mapping[int, Rates]]
    left_out: bool = False


def steps(cluster_id: str, kind: str, *, wanted: Wanted, since_ms: int) -> Steps:
    """Those of the series that are wanted."""
    state = ThroughputState.objects.filter(pk=cluster_id).defer("positions").first()
    if state is None:
        return Steps(newest_ms=None, rates={})
    places = places_of(cluster_id, kind, wanted)
    blocks = ThroughputBlock.objects.filter(
        cluster_id=cluster_id, kind=kind, mark__in=list(places), ts_ms__gte=since_ms
    ).values_list("mark", "ts_ms", "rates")
    found: dict[Key, dict[int, Rates]] = {}
    for mark, ts_ms, packed in blocks.iterator():
        keys = places[mark]
        for at, rates in unpacked_rates(bytes(packed), keys).items():
            found.setdefault(keys[at], {})[ts_ms] = rates
    return Steps(newest_ms=state.ts_ms, rates=found, left_out=kind in state.left_out)


def places_of(cluster_id: str, kind: str, wanted: Wanted) -> dict[str, dict[int, Key]]:
    """By layout, where in its blocks the series stand that are wanted."""
    mine = ThroughputLayout.objects.filter(cluster_id=cluster_id, kind=kind)
    marks = [
        mark
        for mark, shard, shards in mine.values_list("mark", "shard", "shards")
        if wanted.may_be_in(shard, shards)
    ]
    found = {}
    for mark, packed in mine.filter(mark__in=marks).values_list("mark", "keys"):
        keys = enumerate(unpacked_keys(bytes(packed)))
        places = {at: key for at, key in keys if wanted.is_one(key)}
        if places:
            found[mark] = places
    return found
