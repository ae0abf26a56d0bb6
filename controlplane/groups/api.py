"""`/clusters/{id}/groups`."""

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.audit.services import About, audit_record
from controlplane.clusters.selectors import reader_of, seen_cluster, seen_gateway
from controlplane.common.grants import Area, Verb
from controlplane.common.openapi import PAGED, SEARCH, documented
from controlplane.common.problems import Forbidden, NotFound, field_problem
from controlplane.gateway.types import TP
from controlplane.groups import selectors
from controlplane.groups.samples import sample
from controlplane.groups.serializers import (
    GroupRowPageSerializer,
    GroupSerializer,
    OffsetSampleSerializer,
    SampleQuerySerializer,
)
from controlplane.observed.api import observed_list
from controlplane.observed.sections import GROUPS
from controlplane.tenants.views import TenantView

TAG = "groups"


class GroupsView(TenantView):
    area = Area.GROUP

    @documented(
        "group_list",
        answers={200: GroupRowPageSerializer},
        parameters=[*PAGED, SEARCH],
        tag=TAG,
        summary="Consumer groups of a cluster",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        reader = reader_of(cluster, self.scope)
        page = observed_list(request, reader, GROUPS, selectors.group_row)
        selectors.with_diagnosis(reader, page["data"])
        return Response(page)


class GroupView(TenantView):
    area = Area.GROUP

    @documented("group_get", answers={200: GroupSerializer}, tag=TAG, summary="One group")
    def get(self, request: Request, cluster_id: str, group: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        return Response(selectors.group_detail(reader_of(cluster, self.scope), group))


class OffsetSampleView(TenantView):
    """What a record holds is shown to those who may move a group to it, and noted in the audit."""

    area = Area.TOPIC

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
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        described = seen_gateway(cluster, self.scope).describe_topics([topic]).get(topic)
        if described is None:
            raise NotFound(f"There is no topic {topic}.")
        if not self.scope.may_touch(Verb.WRITE, Area.GROUP):
            raise Forbidden("Records are shown to those who may reset offsets.")
        given = SampleQuerySerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        partition, offset = given.validated_data["partition"], given.validated_data["offset"]
        if all(part.partition != partition for part in described.partitions):
            raise field_problem("/partition", f"{topic} has no partition {partition}.")
        found = sample(cluster, TP(topic, partition), offset)
        audit_record(
            tenant_id=self.tenant.pk,
            actor=self.access.actor,
            action="record.sample",
            resource=f"topic/{topic}",
            data={"partition": partition, "offset": offset},
            about=About(
                cluster_id=cluster.pk,
                cluster_name=cluster.name,
                touches=[(Area.TOPIC.value, topic)],
            ),
        )
        return Response(found)
