"""The part of pages that says what needs attention, and the plan that may be next."""

from typing import Any

from django.utils import timezone

from console.pages.attention import (
    SHOWN,
    Next,
    NextOf,
    Row,
    attention,
    proposal_key,
    rewound_of,
    with_next,
)
from console.parts import Part
from controlplane.alerts.selectors import alert_dict, last_asked_at, open_alerts
from controlplane.analytics import selectors as analytics
from controlplane.analytics.quiet import quiet_groups
from controlplane.clusters.models import MANAGED
from controlplane.clusters.selectors import cluster_get, cluster_list
from controlplane.common.grants import Area, Scope
from controlplane.healing.selectors import proposals
from controlplane.operations.scopes import may_plan
from controlplane.runbooks.catalogue import catalogue
from controlplane.runbooks.document import first_act
from controlplane.tenants.models import Tenant

ALERTS_READ = 200
"""Open alerts of one page, the newest; more than are shown, so that the most harmful are."""
REPLACE_KIND = "cluster.replace_broker"
MANAGED_ONLY = frozenset({"broker.restart", "cluster.empty_log_directory", REPLACE_KIND})
"""What nobody but the service that runs the brokers can do."""


def attention_part(tenant: Tenant, scope: Scope, cluster_id: str | None = None) -> Part:
    """Of the tenant, or of one cluster, whose page has checked that it is covered."""
    return Part(lambda: _rows(tenant, scope, cluster_id), remote=True)


def _rows(tenant: Tenant, scope: Scope, cluster_id: str | None) -> list[Row]:
    clusters = (
        cluster_list(tenant, scope)
        if cluster_id is None
        else [cluster_get(tenant, scope, cluster_id)]
    )
    rewound = [
        row
        for cluster in clusters
        for row in rewound_of(
            cluster, analytics.lag_series(tenant, scope, cluster["id"], latest=True)
        )
    ]
    quiet = [
        {**row, "cluster_id": cluster["id"], "cluster_name": cluster["name"]}
        for cluster in clusters
        for row in quiet_groups(tenant, scope, cluster["id"])
    ]
    proposed = proposals(each["id"] for each in clusters if scope.sees(Area.CLUSTER, each["name"]))
    rows = attention(
        [alert_dict(row) for row in open_alerts(tenant, scope, cluster_id, ALERTS_READ)],
        clusters,
        rewound,
        quiet,
        proposed,
        asked_at=last_asked_at(),
        now=timezone.now(),
    )
    known = {proposal_key(row): _replacement(row) for row in proposed}
    next_of = _next_of(scope, clusters)
    return with_next(rows[:SHOWN], lambda row: _proposed(scope, known, row) or next_of(row))


def _replacement(proposal: Row) -> Next:
    return Next(
        title="Put the broker on another host",
        kind=REPLACE_KIND,
        cluster_id=proposal["cluster_id"],
        inputs={"broker": proposal["broker"]},
    )


def _proposed(scope: Scope, known: dict[str, Next], row: Row) -> Next | None:
    found = known.get(row["key"])
    if found is None or not may_plan(scope, found.kind, row["cluster_name"] or "", {}):
        return None
    return found


def _next_of(scope: Scope, clusters: list[dict[str, Any]]) -> NextOf:
    """The first act of the row's runbook that it fills in and that the person may plan."""
    managed = {each["id"] for each in clusters if each["kind"] == MANAGED}
    books = catalogue()

    def next_of(row: Row) -> Next | None:
        book = books.get(row["runbook"] or "")
        if book is None or row["silenced"]:
            return None
        found = first_act(book.acts, _context(row))
        if found is None:
            return None
        block, values = found
        if block.name in MANAGED_ONLY and row["cluster_id"] not in managed:
            return None
        names = {Area.TOPIC: row["topic"] or "", Area.GROUP: row["group"] or ""}
        if not may_plan(scope, block.name, row["cluster_name"] or "", names):
            return None
        inputs = {name: value for name, value in values.items() if name != "cluster"}
        return Next(
            title=block.title, kind=block.name, cluster_id=values.get("cluster"), inputs=inputs
        )

    return next_of


def _context(row: Row) -> Row:
    """What is known, by the names of a runbook's blanks."""
    return {
        "cluster": row["cluster_id"],
        "group": row["group"],
        "topic": row["topic"],
        "broker": row["broker"],
        "directory": row["directory"],
        "operation": row["operation_id"],
        "alert": row["alert_id"],
    }
