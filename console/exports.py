"""`/console/api/exports/…`: a whole list as a CSV, of what is searched for, in the order asked for.

The names are read first, so that no row is there twice or missing when the list changes meanwhile;
then the rows, a bounded number at a time. A header says whether these are all.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse
from rest_framework.request import Request

from console.list_query import ListQuery
from console.pages.groups import GROUPS_QUERY
from console.pages.topics import TOPICS_QUERY
from controlplane.analytics.files import CONTENT_TYPES, CSV, as_csv
from controlplane.analytics.judged import judged_groups
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.openapi import documented
from controlplane.common.problems import TooManyRequests
from controlplane.common.ratelimit import EXPORTS, seconds_to_wait
from controlplane.groups.selectors import group_names, group_row
from controlplane.observed.listings import EXPORT_BATCH, EXPORT_ROWS_MAX, Wanted, named
from controlplane.observed.models import ObservedRow
from controlplane.observed.readers import AREAS, Reader
from controlplane.observed.sections import GROUPS, TOPICS
from controlplane.observed.selectors import Section, rows_to_cut
from controlplane.observed.services import observed_section
from controlplane.tenants.exports import ExportResponse
from controlplane.tenants.views import TenantView
from controlplane.topics.selectors import topic_names, topic_row, with_drift
from spark_analytics.contracts.gold import Column, ColumnType

COMPLETE = "X-Penstock-Export-Complete"
TEXT, NUMBER = ColumnType.STRING, ColumnType.LONG
TOPIC_COLUMNS = (
    Column("name", TEXT),
    Column("internal", TEXT),
    Column("partitions", NUMBER),
    Column("replication_factor", NUMBER),
    Column("under_replicated", NUMBER),
    Column("offline", NUMBER),
    Column("records", NUMBER),
    Column("size_bytes", NUMBER),
    Column("cleanup_policy", TEXT),
    Column("retention_ms", NUMBER),
    Column("changed_outside", TEXT),
    Column("as_of", TEXT),
    Column("stale_reason", TEXT),
)
GROUP_COLUMNS = (
    Column("group", TEXT),
    Column("state", TEXT),
    Column("protocol_type", TEXT),
    Column("members", NUMBER),
    Column("coordinator", NUMBER),
    Column("lag", NUMBER),
    Column("topics", TEXT),
    Column("as_of", TEXT),
    Column("stale_reason", TEXT),
)

Rows = Sequence[ObservedRow]


@dataclass(frozen=True, slots=True)
class Export:
    """One list.

    Attributes:
        names: of all its rows that are wanted, in order.
        shown: rows as their columns have them.
    """

    section: str
    query: ListQuery
    columns: tuple[Column, ...]
    names: Callable[[TenantView, Reader, Wanted], list[str]]
    shown: Callable[[Reader, Rows, Section], list[dict[str, Any]]]


def _topic_names(_view: TenantView, reader: Reader, wanted: Wanted) -> list[str]:
    return topic_names(reader, wanted)


def _group_names(view: TenantView, reader: Reader, wanted: Wanted) -> list[str]:
    return group_names(
        reader, wanted, lambda: judged_groups(view.tenant, view.scope, reader.cluster_id)
    )


def _topics(reader: Reader, rows: Rows, at: Section) -> list[dict[str, Any]]:
    found = with_drift(reader, [topic_row(row, at) for row in rows])
    return [
        {**row, "changed_outside": " ".join(one["text"] for one in row["drift"])} for row in found
    ]


def _groups(_reader: Reader, rows: Rows, at: Section) -> list[dict[str, Any]]:
    found = [group_row(row, at) for row in rows]
    return [{**row, "topics": " ".join(row["topics"])} for row in found]


EXPORTED = {
    TOPICS: Export(TOPICS, TOPICS_QUERY, TOPIC_COLUMNS, _topic_names, _topics),
    GROUPS: Export(GROUPS, GROUPS_QUERY, GROUP_COLUMNS, _group_names, _groups),
}


def export_view(name: str, export: Export) -> type[TenantView]:
    class ExportView(TenantView):
        area = AREAS[export.section]

        @documented(
            f"console_export_{name}",
            answers={
                (200, "text/csv"): OpenApiResponse(OpenApiTypes.STR, "Rows after their names.")
            },
            parameters=export.query.parameters(paged=False),
            tag="console",
            summary=f"All {name} that match as a CSV; at most 100,000, as {COMPLETE} says",
        )
        def get(self, request: Request, cluster_id: str) -> StreamingHttpResponse:
            wanted = export.query.wanted(request, self.tenant, cluster_id)
            cluster = seen_cluster(self.tenant, self.scope, cluster_id)
            reader = reader_of(cluster, self.scope)
            at = observed_section(reader, name)
            wait_s = seconds_to_wait(EXPORTS, self.access.actor.credential)
            if wait_s is not None:
                raise TooManyRequests(f"Try again in {wait_s} s.", retry_after_s=wait_s)
            names = export.names(self, reader, wanted)
            kept = names[:EXPORT_ROWS_MAX]
            answer = ExportResponse(
                _lines(export, reader, kept, at),
                self.access.actor,
                self.tenant.pk,
                content_type=CONTENT_TYPES[CSV],
            )
            answer["Content-Disposition"] = f'attachment; filename="{name}.csv"'
            answer[COMPLETE] = "true" if len(kept) == len(names) else "false"
            return answer

    return ExportView


async def _lines(
    export: Export, reader: Reader, names: list[str], at: Section
) -> AsyncGenerator[str, None]:
    """Batch by batch, so that no more than one is held whatever the list's length."""
    head, *_ = as_csv(export.columns, [])
    yield head

    def batch(of: list[str]) -> str:
        rows = named(reader, rows_to_cut(reader, export.section), of)
        _, text = as_csv(export.columns, [export.shown(reader, rows, at)])
        return text

    for first in range(0, len(names), EXPORT_BATCH):
        yield await sync_to_async(batch)(names[first : first + EXPORT_BATCH])


def export_urls() -> list[URLPattern]:
    return [
        path(f"console/api/exports/{name}/<str:cluster_id>", export_view(name, one).as_view())
        for name, one in EXPORTED.items()
    ]
