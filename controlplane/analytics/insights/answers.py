"""Each analysis as an answer: who may see which rows, and what the answer says of itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from controlplane.analytics.insights import (
    forecast,
    hot,
    impact,
    objectives,
    prices,
    silent,
    unused,
    usage,
    what_if,
)
from controlplane.analytics.insights.burns import BUDGET_S
from controlplane.analytics.insights.objective_services import targets_of
from controlplane.analytics.insights.scene import DAY_MS, Row, Scene, scene_of
from controlplane.analytics.insights.tallies import TooManyWindowsError
from controlplane.analytics.insights.targets import SECONDS_DEFAULT, SHARE_DEFAULT, Target
from controlplane.analytics.models import GoldGroupLag
from controlplane.analytics.times import iso_ms
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import NotFound, field_problem
from controlplane.tenants.models import Tenant
from spark_analytics.contracts.analyses import (
    BY_CLUSTER,
    FORECAST,
    HOT,
    IMPACT,
    OBJECTIVES,
    SILENT,
    UNUSED,
    USAGE,
    WHAT_IF,
    WHAT_IF_GROUPS,
    Analysis,
)

SPAN_MAX_MS = 31 * DAY_MS
"""Of one answer; more is asked for in parts."""
SPANS_MS: Mapping[str, int] = {
    WHAT_IF.id: 31 * DAY_MS,
    WHAT_IF_GROUPS.id: 14 * DAY_MS,
    USAGE.id: 30 * DAY_MS,
    OBJECTIVES.id: 14 * DAY_MS,
    UNUSED.id: 30 * DAY_MS,
    FORECAST.id: 28 * DAY_MS,
    HOT.id: DAY_MS,
    SILENT.id: DAY_MS,
    IMPACT.id: 7 * DAY_MS,
}
"""By default."""
ROWS_MAX = 20_000


def answer(
    tenant: Tenant, scope: Scope, cluster_id: str, analysis: Analysis, asked: Mapping[str, Any]
) -> dict[str, Any]:
    """{analysis, formula_version, inputs, as_of, run_id, from, to, seen_share, complete, data}.

    `seen_share`: of the range's windows those with a sample. `complete`: no row was left out for
    being one too many.

    Raises:
        NotFound: the cluster or the topic is not there for this caller.
        Invalid: the range is longer than 31 days, or more would have to be read than is.
    """
    sees = _sight(tenant, scope, cluster_id, analysis, asked.get("topic"))
    from_ms, to_ms = asked.get("from_ms"), asked.get("to_ms")
    if analysis is OBJECTIVES:
        scene = _lag_scene(cluster_id)
    else:
        scene = scene_of(cluster_id, from_ms=from_ms, to_ms=to_ms, span_ms=SPANS_MS[analysis.id])
    if scene is not None and scene.to_ms - scene.from_ms > SPAN_MAX_MS:
        raise field_problem("from", "at most 31 days at a time")
    asked = {**asked, "tenant": tenant, "scope": scope}
    found, whole = ([], True) if scene is None else _found(analysis, scene, asked)
    rows = [row for row in found if sees(row)]
    return {
        "analysis": analysis.id,
        "formula_version": analysis.formula_version,
        "inputs": list(analysis.inputs),
        "as_of": None if scene is None else iso_ms(scene.as_of_ms),
        "run_id": None if scene is None else scene.run_id,
        "from": None if scene is None else iso_ms(scene.from_ms),
        "to": None if scene is None else iso_ms(scene.to_ms),
        "seen_share": None if scene is None else scene.seen_share,
        "complete": whole and len(rows) <= ROWS_MAX,
        "data": rows[:ROWS_MAX],
    }


def _found(analysis: Analysis, scene: Scene, asked: Mapping[str, Any]) -> tuple[list[Row], bool]:
    """(rows, whether none was left out)."""
    if analysis is IMPACT:
        return impact.rows(asked["tenant"], asked["scope"], scene, asked["hours"])
    return _FOUND[analysis.id](scene, asked), True


def _lag_scene(cluster_id: str) -> Scene | None:
    """Objectives read the windows themselves, which are there sooner than hours."""
    newest = GoldGroupLag.objects.filter(cluster_id=cluster_id).order_by("-ts_ms").first()
    if newest is None:
        return None
    span_ms = BUDGET_S * 1000
    seen = scene_of(cluster_id, from_ms=None, to_ms=newest.ts_ms, span_ms=span_ms)
    return Scene(
        cluster_id=cluster_id,
        from_ms=newest.ts_ms - span_ms,
        to_ms=newest.ts_ms,
        as_of_ms=newest.sampled_ms,
        run_id=newest.run_id,
        seen_share=0.0 if seen is None else seen.seen_share,
    )


def _what_if(scene: Scene, asked: Mapping[str, Any]) -> list[Row]:
    rungs = what_if.ladder(asked.get("retention_s"))
    groups = what_if.group_rows(scene, asked["topic"], rungs)
    return what_if.rows(scene, asked["topic"], rungs, groups)


def _what_if_groups(scene: Scene, asked: Mapping[str, Any]) -> list[Row]:
    return what_if.group_rows(scene, asked["topic"], what_if.ladder(asked.get("retention_s")))


def _objectives(scene: Scene, asked: Mapping[str, Any]) -> list[Row]:
    """By the objectives that are set, or all by the one that is asked for."""
    targets = targets_of(asked["tenant"])
    if "seconds" in asked or "share" in asked:
        wanted = Target(
            seconds=asked.get("seconds", SECONDS_DEFAULT), share=asked.get("share", SHARE_DEFAULT)
        )
        targets = [wanted]
    try:
        return objectives.rows(scene.cluster_id, scene.to_ms, targets, group=asked.get("group"))
    except TooManyWindowsError:
        why = "Too much was late to be counted at once: ask for one group."
        raise field_problem("/group", why) from None


_FOUND: Mapping[str, Callable[[Scene, Mapping[str, Any]], list[Row]]] = {
    WHAT_IF.id: _what_if,
    WHAT_IF_GROUPS.id: _what_if_groups,
    USAGE.id: lambda scene, _: usage.rows(scene, prices.price_book()),
    OBJECTIVES.id: _objectives,
    UNUSED.id: lambda scene, asked: unused.rows(scene, asked["idle_s"]),
    FORECAST.id: lambda scene, asked: [forecast.row(scene, asked.get("capacity_bytes"))],
    HOT.id: lambda scene, _: hot.rows(scene),
    SILENT.id: lambda scene, _: silent.rows(scene),
}
assert {*_FOUND, IMPACT.id} == {*SPANS_MS} == {each.id for each in BY_CLUSTER}  # noqa: S101 - a table left out is a fault at start


def _sight(
    tenant: Tenant, scope: Scope, cluster_id: str, analysis: Analysis, topic: str | None
) -> Callable[[Row], bool]:
    name = seen_cluster(tenant, scope, cluster_id, with_brokers=False).name
    if analysis is FORECAST and not scope.sees(Area.CLUSTER, name):
        raise NotFound("There are no totals of this cluster for you.")
    if topic is not None and not scope.sees(Area.TOPIC, name, topic):
        raise NotFound(f"There is no topic {topic} on the cluster {name}.")

    sees_whole = scope.sees(Area.CLUSTER, name)

    def sees(row: Row) -> bool:
        of_topic, of_group = row.get("topic"), row.get("group")
        if analysis is IMPACT and of_topic is None and of_group is None and not sees_whole:
            return False  # it tells of all topics
        return (of_topic is None or scope.sees(Area.TOPIC, name, of_topic)) and (
            of_group is None or scope.sees(Area.GROUP, name, of_group)
        )

    return sees
