"""`/console/api/search`: what of a tenant has a name, or an id, that holds a text.

Clusters, topics, groups, users, operations and runbooks, each kind a statement over the control
plane's own tables; no broker is asked. Only what the viewer's scope covers is looked through, so
that neither a result nor "there is more" says anything of what it does not.
"""

from collections.abc import Callable, Iterable
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import cluster_rows, reader_of
from controlplane.common.grants import Area, Scope, Verb
from controlplane.common.openapi import SEARCH, documented
from controlplane.common.problems import field_problem
from controlplane.common.serializers import Shape
from controlplane.observed.sections import GROUPS, TOPICS, USERS
from controlplane.observed.selectors import names_holding
from controlplane.operations.selectors import operations_holding
from controlplane.runbooks.catalogue import catalogue
from controlplane.tenants.models import Tenant
from controlplane.tenants.views import TenantView

TEXT_MAX = 100
"""Of what is searched for, characters."""
KIND_MAX = 8
"""Results of one kind."""
CLUSTERS_MAX = 200
"""The newest of those that the viewer sees; topics, groups and users of others are not found."""

CLUSTER, TOPIC, GROUP, USER = "cluster", "topic", "group", "user"
OPERATION, RUNBOOK = "operation", "runbook"
KINDS = (CLUSTER, TOPIC, GROUP, USER, OPERATION, RUNBOOK)
SECTIONS = {TOPIC: TOPICS, GROUP: GROUPS, USER: USERS}

Found = dict[str, Any]


class FoundSerializer(Shape):
    kind = serializers.ChoiceField(KINDS)
    id = serializers.CharField(help_text="Of a topic, group or user its name.")
    title = serializers.CharField()
    note = serializers.CharField(
        allow_blank=True, help_text="What it is about: an operation's state, a runbook's alerts."
    )
    cluster_id = serializers.CharField(allow_null=True)
    cluster_name = serializers.CharField(allow_null=True)


class SearchSerializer(Shape):
    results = FoundSerializer(many=True)
    more = serializers.ListField(
        child=serializers.ChoiceField(KINDS),
        help_text=f"Kinds of which there are more than {KIND_MAX}.",
    )


class SearchView(TenantView):
    area = Area.OUTLINE

    @documented(
        "console_search",
        answers={200: SearchSerializer},
        parameters=[SEARCH],
        tag="console",
        summary="What has a name like this",
    )
    def get(self, request: Request) -> Response:
        text = request.query_params.get("q", "").strip()
        if len(text) > TEXT_MAX:
            raise field_problem("/q", f"q has at most {TEXT_MAX} characters.")
        found = search(self.tenant, self.scope, text) if text else {}
        return Response(
            {
                "results": [row for rows in found.values() for row in rows[:KIND_MAX]],
                "more": [kind for kind, rows in found.items() if len(rows) > KIND_MAX],
            },
            headers={"Cache-Control": "no-store"},
        )


def search(tenant: Tenant, scope: Scope, text: str) -> dict[str, list[Found]]:
    """By kind, each with at most one more than `KIND_MAX`."""
    clusters = cluster_rows(tenant, scope)[:CLUSTERS_MAX]
    finders: dict[str, Callable[[], Iterable[Found]]] = {
        CLUSTER: lambda: _clusters(clusters, text),
        **{kind: _named(kind, clusters, scope, text) for kind in SECTIONS},
        OPERATION: lambda: _operations(tenant, scope, clusters, text),
        RUNBOOK: lambda: _runbooks(scope, text),
    }
    return {kind: list(find()) for kind, find in finders.items()}


def _clusters(clusters: Iterable[Cluster], text: str) -> list[Found]:
    rows = [row for row in clusters if _holds(text, row.name, row.id)]
    rows.sort(key=lambda row: (not row.name.lower().startswith(text.lower()), row.name))
    return [_found(CLUSTER, row.id, row.name, row.phase.lower()) for row in rows[: KIND_MAX + 1]]


def _named(
    kind: str, clusters: Iterable[Cluster], scope: Scope, text: str
) -> Callable[[], list[Found]]:
    def find() -> list[Found]:
        names = {row.id: row.name for row in clusters}
        readers = [reader_of(row, scope) for row in clusters]
        rows = names_holding(readers, SECTIONS[kind], text, KIND_MAX + 1)
        return [
            _found(kind, key, key, cluster_id=cluster_id, cluster_name=names[cluster_id])
            for cluster_id, key in rows
        ]

    return find


def _operations(
    tenant: Tenant, scope: Scope, clusters: Iterable[Cluster], text: str
) -> list[Found]:
    names = {row.id: row.name for row in clusters}
    return [
        _found(
            OPERATION,
            row.id,
            f"{row.kind} {row.resource.partition('/')[2]}".strip(),
            row.state,
            cluster_id=row.cluster_id,
            cluster_name=names.get(row.cluster_id or ""),
        )
        for row in operations_holding(tenant, scope, text, KIND_MAX + 1)
    ]


def _runbooks(scope: Scope, text: str) -> list[Found]:
    if not scope.may_touch(Verb.READ, Area.OPERATION):
        return []
    rows = [row for row in catalogue().values() if _holds(text, row.title, row.id, *row.alerts)]
    rows.sort(key=lambda row: row.title)
    return [
        _found(RUNBOOK, row.id, row.title, ", ".join(row.alerts)) for row in rows[: KIND_MAX + 1]
    ]


def _holds(text: str, *of: str) -> bool:
    return any(text.lower() in each.lower() for each in of)


def _found(
    kind: str,
    id_: str,
    title: str,
    note: str = "",
    *,
    cluster_id: str | None = None,
    cluster_name: str | None = None,
) -> Found:
    return {
        "kind": kind,
        "id": id_,
        "title": title,
        "note": note,
        "cluster_id": cluster_id,
        "cluster_name": cluster_name,
    }
