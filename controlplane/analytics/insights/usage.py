"""What topics and groups used, and what that costs: GiB·h on all replicas, in, out.

Hours that were not seen are not counted: `hours` says how many were, in whole or in part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from decimal import Decimal

from django.db.models import Count, F, FloatField, Sum
from django.db.models.functions import Cast

from controlplane.analytics.insights.prices import Price, spans
from controlplane.analytics.insights.scene import GIB, WINDOWS, Row, Scene, hours_of, replicas_of
from controlplane.analytics.models import GoldGroupRollup, GoldTopicRollup

Key = tuple[str, str | None]
_MILLIONTH = Decimal("0.000001")


@dataclass(slots=True, kw_only=True)
class Used:
    """Of one topic, or one group on it. Null: nothing of it is known."""

    gib_hours: float | None = None
    gib_in: float | None = None
    gib_out: float | None = None
    hours: int = 0
    cost: Decimal | None = Decimal(0)
    currencies: set[str] = field(default_factory=set)

    def add(self, more: Used, price: Price | None) -> None:
        """Usage of a time in which this price holds; without one the cost is not known."""
        self.gib_hours = plus(self.gib_hours, more.gib_hours)
        self.gib_in = plus(self.gib_in, more.gib_in)
        self.gib_out = plus(self.gib_out, more.gib_out)
        self.hours += more.hours
        cost = None if price is None else cost_of(more, price)
        self.cost = None if self.cost is None or cost is None else self.cost + cost
        if price is not None:
            self.currencies.add(price.currency)


def plus(one: float | None, other: float | None) -> float | None:
    return other if one is None else one if other is None else one + other


def cost_of(used: Used, price: Price) -> Decimal:
    pairs = (
        (used.gib_hours, price.gib_hour),
        (used.gib_in, price.gib_in),
        (used.gib_out, price.gib_out),
    )
    return sum((Decimal(repr(many)) * each for many, each in pairs if many is not None), Decimal(0))


def rows(scene: Scene, book: Sequence[Price]) -> list[Row]:
    """Topics with their bytes held and in, groups with their bytes out, by name."""
    replicas = replicas_of(scene.cluster_id)
    found: dict[Key, Used] = {}
    for span in spans(book, scene.from_ms, scene.to_ms):
        inside = replaced(scene, from_ms=span.from_ms, to_ms=span.to_ms)
        for key, used in {**_topics(inside, replicas), **_groups(inside)}.items():
            found.setdefault(key, Used()).add(used, span.price)
    return [
        _row(key, used, replicas)
        for key, used in sorted(found.items(), key=lambda item: (item[0][0], item[0][1] or ""))
    ]


def _topics(scene: Scene, replicas: dict[str, int]) -> dict[Key, Used]:
    held = Cast(F("bytes_samples"), FloatField()) * F("bytes_avg")
    summed = (
        hours_of(GoldTopicRollup, scene)
        .values("topic")
        .annotate(held=Sum(held), came=Sum("bytes_in"), hours=Count("pk"))
    )
    return {
        (row["topic"], None): Used(
            gib_hours=None
            if row["held"] is None or row["topic"] not in replicas
            else row["held"] / WINDOWS / GIB * replicas[row["topic"]],
            gib_in=None if row["came"] is None else row["came"] / GIB,
            hours=row["hours"],
        )
        for row in summed
    }


def _groups(scene: Scene) -> dict[Key, Used]:
    summed = (
        hours_of(GoldGroupRollup, scene)
        .values("topic", "group")
        .annotate(went=Sum("bytes_out"), hours=Count("pk"))
    )
    return {
        (row["topic"], row["group"]): Used(
            gib_out=None if row["went"] is None else row["went"] / GIB, hours=row["hours"]
        )
        for row in summed
    }


def _row(key: Key, used: Used, replicas: dict[str, int]) -> Row:
    topic, group = key
    # A part that is not known has no price either.
    part = used.gib_hours if group is None else used.gib_out
    known = part is not None and used.cost is not None and len(used.currencies) == 1
    return {
        "topic": topic,
        "group": group,
        "replicas": replicas.get(topic),
        "gib_hours": used.gib_hours,
        "gib_in": used.gib_in,
        "gib_out": used.gib_out,
        "hours": used.hours,
        "cost": str((used.cost or Decimal(0)).quantize(_MILLIONTH)) if known else None,
        "currency": next(iter(used.currencies)) if known else None,
    }
