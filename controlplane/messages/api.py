"""`/clusters/{id}/topics/{name}/messages`: a page of what a topic holds."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.common.grants import Area, Verb
from controlplane.common.openapi import CURSOR, documented
from controlplane.messages.query import From, Order
from controlplane.messages.reading import Asked, reading
from controlplane.messages.serializers import FORMATS, MessagePageSerializer, query_of
from controlplane.messages.services import read_begin
from controlplane.tenants.views import TenantView

TAG = "messages"
NO_STORE = {"Cache-Control": "no-store"}
QUERY = [
    CURSOR,
    OpenApiParameter("limit", int, description="Messages, 1 to 200; 50 by default."),
    OpenApiParameter("partitions", str, description="As `0,3`; all by default."),
    OpenApiParameter("from", str, enum=[each.value for each in From]),
    OpenApiParameter("order", str, enum=[each.value for each in Order]),
    OpenApiParameter("offset", int, description="With `from=offset`, of each partition."),
    OpenApiParameter("time", str, description="With `from=time`: ISO 8601."),
    OpenApiParameter("key", str, description="A part of the key as it is shown, in any case."),
    OpenApiParameter("value", str, description="A part of the value, likewise."),
    OpenApiParameter("header", str, description="A part of a name, or `name=part of the value`."),
    OpenApiParameter("filter", str, description='As `value.total > 10 && key contains "a"`.'),
    OpenApiParameter("key_format", str, enum=FORMATS),
    OpenApiParameter("value_format", str, enum=FORMATS),
    OpenApiParameter("whole", bool, description="With `limit=1`: texts are not cut."),
]


class MessagesView(TenantView):
    area = Area.TOPIC
    reads = Verb.BROWSE

    @documented(
        "message_list",
        answers={200: MessagePageSerializer},
        parameters=QUERY,
        tag=TAG,
        summary="Messages of a topic, by offset, time and partition, filtered",
    )
    def get(self, request: Request, cluster_id: str, name: str) -> Response:
        asked = read_begin(
            tenant=self.tenant,
            actor=self.access.actor,
            cluster_id=cluster_id,
            topic=name,
            query=query_of(request.query_params),
        )
        return Response(message_page(asked), headers=NO_STORE)


def message_page(asked: Asked) -> dict[str, Any]:
    """Raises Problem, GatewayError."""
    found: list[dict[str, Any]] = []
    done: dict[str, Any] = {}
    for frames in reading(asked):
        found += [data for kind, data in frames if kind == "message"]
        done = next((data for kind, data in frames if kind == "done"), done)
    has_more = done["cursor"] is not None and done["ended_by"] != "end"
    page = {"next": done["cursor"] if has_more else None, "has_more": has_more}
    return {"data": found, "page": page, "reading": done}
