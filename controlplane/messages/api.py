"""`/clusters/{id}/topics/{name}/messages`, its export, and `/message-masks`."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.common.grants import Area, Verb
from controlplane.common.openapi import CURSOR, PAGED, documented
from controlplane.common.paging import page_of
from controlplane.common.problems import TooManyRequests
from controlplane.common.ratelimit import DESTINATION_TESTS, EXPORTS, seconds_to_wait
from controlplane.messages import selectors, services
from controlplane.messages.export import CONTENT_TYPES, exported
from controlplane.messages.query import From, Order
from controlplane.messages.reading import Asked, reading
from controlplane.messages.samples import sample
from controlplane.messages.serializers import (
    CSV,
    FORMATS,
    ISOLATIONS,
    NDJSON,
    MaskInputSerializer,
    MaskPageSerializer,
    MaskSerializer,
    MessageExportQuerySerializer,
    MessagePageSerializer,
    NewMessageSerializer,
    OffsetSampleSerializer,
    SampleQuerySerializer,
    SchemaRegistryCheckSerializer,
    SchemaRegistryInputSerializer,
    SchemaRegistrySerializer,
    WrittenMessageSerializer,
    new_record,
    query_of,
)
from controlplane.messages.services import EXPORT, read_begin
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
    OpenApiParameter(
        "isolation",
        str,
        enum=ISOLATIONS,
        description="read_committed leaves out records of aborted transactions, and whatever lies "
        "at or behind the first open one.",
    ),
    OpenApiParameter("whole", bool, description="With `limit=1`: texts are not cut."),
]


EXPORT_COMPLETE = "X-Penstock-Export-Complete"


class MessagesView(TenantView):
    area = Area.TOPIC
    reads = Verb.BROWSE
    needs = Verb.PRODUCE
    asks_outside = True

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

    @documented(
        "message_produce",
        body=NewMessageSerializer,
        answers={201: WrittenMessageSerializer},
        tag=TAG,
        summary="Write one message; 504 when whether it was written is not known",
    )
    def post(self, request: Request, cluster_id: str, name: str) -> Response:
        given = NewMessageSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        written = services.message_produce(
            tenant=self.tenant,
            actor=self.access.actor,
            cluster_id=cluster_id,
            topic=name,
            new=new_record(given.validated_data),
        )
        return Response(
            {
                "partition": written.partition,
                "offset": written.offset,
                "timestamp_ms": written.timestamp_ms,
            },
            status=status.HTTP_201_CREATED,
        )


class OffsetSampleView(TenantView):
    """What a record holds is shown to those who read the topic's messages, and as they see it."""

    area = Area.TOPIC
    reads = Verb.BROWSE

    @documented(
        "offset_sample",
        answers={200: OffsetSampleSerializer},
        parameters=[
            OpenApiParameter("partition", int, description="By default 0."),
            OpenApiParameter("offset", int, description="By default 0."),
        ],
        tag=TAG,
        summary="The record that a group would read first at an offset",
    )
    def get(self, request: Request, cluster_id: str, topic: str) -> Response:
        given = SampleQuerySerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        where = given.validated_data
        found = sample(
            tenant=self.tenant,
            actor=self.access.actor,
            cluster_id=cluster_id,
            topic=topic,
            **where,
        )
        return Response({"topic": topic, **where, "record": found}, headers=NO_STORE)


class MessagesExportView(TenantView):
    """A bounded number of messages as a file; a header says whether that was all."""

    area = Area.TOPIC
    reads = Verb.BROWSE

    @documented(
        "message_export",
        answers={
            (200, "application/x-ndjson"): OpenApiResponse(OpenApiTypes.STR, "One message a line."),
            (200, "text/csv"): OpenApiResponse(OpenApiTypes.STR, "Rows after their names."),
        },
        parameters=[
            OpenApiParameter("format", str, enum=[NDJSON, CSV], description="ndjson by default."),
            OpenApiParameter("records", int, description="1 to 10000; 1000 by default."),
            *(row for row in QUERY if row.name not in {"limit", "whole"}),
        ],
        tag=TAG,
        summary="The same as a file, at most 16 MiB, as X-Penstock-Export-Complete says",
    )
    def get(self, request: Request, cluster_id: str, name: str) -> HttpResponse:
        query = query_of(request.query_params, shape=MessageExportQuerySerializer)
        wait_s = seconds_to_wait(EXPORTS, self.access.actor.credential)
        if wait_s is not None:
            raise TooManyRequests(f"Try again in {wait_s} s.", retry_after_s=wait_s)
        asked = read_begin(
            tenant=self.tenant,
            actor=self.access.actor,
            cluster_id=cluster_id,
            topic=name,
            query=query,
            how=EXPORT,
        )
        wanted = request.query_params.get("format", NDJSON)
        text, is_complete = exported(asked, is_csv=wanted == CSV)
        answer = HttpResponse(text, content_type=CONTENT_TYPES[wanted])
        answer["Content-Disposition"] = f'attachment; filename="messages.{wanted}"'
        answer["Cache-Control"] = "no-store"
        answer[EXPORT_COMPLETE] = "true" if is_complete else "false"
        return answer


class SchemaRegistryView(TenantView):
    """Owners set it: whoever says what fields are called says what masks find."""

    needs = Verb.ADMINISTER
    area = Area.CLUSTER

    def held(self, cluster_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        cluster = selectors.registry_cluster(self.tenant, self.scope, cluster_id)
        return selectors.registry_dict(cluster, locked=True)

    @documented(
        "schema_registry_get",
        answers={200: SchemaRegistrySerializer},
        tag=TAG,
        summary="Where the schemas of a cluster's messages are",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = selectors.registry_cluster(self.tenant, self.scope, cluster_id)
        return Response(selectors.registry_dict(cluster))

    @documented(
        "schema_registry_set",
        body=SchemaRegistryInputSerializer,
        answers={200: SchemaRegistrySerializer},
        tag=TAG,
        summary="Say where they are; it is asked as messages are read",
    )
    def put(self, request: Request, cluster_id: str) -> Response:
        cluster = selectors.registry_cluster(self.tenant, self.scope, cluster_id)
        given = SchemaRegistryInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        services.registry_set(cluster=cluster, actor=self.access.actor, values=given.validated_data)
        return Response(selectors.registry_dict(cluster))

    @documented(
        "schema_registry_remove",
        answers={204: None},
        tag=TAG,
        summary="Forget it: such messages are shown as bytes",
    )
    def delete(self, request: Request, cluster_id: str) -> Response:
        cluster = selectors.registry_cluster(self.tenant, self.scope, cluster_id)
        services.registry_remove(cluster=cluster, actor=self.access.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SchemaRegistryCheckView(TenantView):
    """Asks an address of the caller's choice, so it is limited as tests of destinations are."""

    needs = Verb.ADMINISTER
    area = Area.CLUSTER
    asks_outside = True

    @documented(
        "schema_registry_check",
        body=SchemaRegistryInputSerializer,
        answers={200: SchemaRegistryCheckSerializer},
        tag=TAG,
        summary="Whether a registry answers there; nothing is set",
    )
    def post(self, request: Request, cluster_id: str) -> Response:
        cluster = selectors.registry_cluster(self.tenant, self.scope, cluster_id)
        given = SchemaRegistryInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        wait_s = seconds_to_wait(DESTINATION_TESTS, self.tenant.pk)
        if wait_s is not None:
            raise TooManyRequests(f"Try again in {wait_s} s.", retry_after_s=wait_s)
        found = services.registry_check(
            cluster=cluster, actor=self.access.actor, values=given.validated_data
        )
        return Response(found)


class MasksView(TenantView):
    needs = Verb.ADMINISTER

    @documented(
        "message_mask_list",
        answers={200: MaskPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="What of the tenant's messages is hidden from whom",
    )
    def get(self, request: Request) -> Response:
        rows = selectors.mask_rows(self.tenant)
        return Response(page_of(request, rows, selectors.mask_dict))

    @documented(
        "message_mask_create",
        body=MaskInputSerializer,
        answers={201: MaskSerializer},
        tag=TAG,
        summary="Hide a part of the messages of some topics",
    )
    def post(self, request: Request) -> Response:
        given = MaskInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = services.mask_create(
            tenant=self.tenant, actor=self.access.actor, values=given.validated_data
        )
        return Response(selectors.mask_dict(row), status=status.HTTP_201_CREATED)


class MaskView(TenantView):
    needs = Verb.ADMINISTER

    def held(self, mask_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        return selectors.mask_dict(selectors.mask_row(self.tenant, mask_id, locked=True))

    @documented("message_mask_get", answers={200: MaskSerializer}, tag=TAG, summary="One mask")
    def get(self, request: Request, mask_id: str) -> Response:
        return Response(selectors.mask_dict(selectors.mask_row(self.tenant, mask_id)))

    @documented(
        "message_mask_change",
        body=MaskInputSerializer,
        answers={200: MaskSerializer},
        tag=TAG,
        summary="Change a mask, all of it",
    )
    def put(self, request: Request, mask_id: str) -> Response:
        selectors.mask_row(self.tenant, mask_id)
        given = MaskInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = services.mask_update(
            tenant=self.tenant,
            actor=self.access.actor,
            mask_id=mask_id,
            values=given.validated_data,
        )
        return Response(selectors.mask_dict(row))

    @documented(
        "message_mask_delete",
        answers={204: None},
        tag=TAG,
        summary="Delete a mask: what it hid is shown",
    )
    def delete(self, request: Request, mask_id: str) -> Response:
        services.mask_delete(tenant=self.tenant, actor=self.access.actor, mask_id=mask_id)
        return Response(status=status.HTTP_204_NO_CONTENT)


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
