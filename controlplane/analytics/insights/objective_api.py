"""`/lag-objectives`: what a tenant calls late, by group and topic."""

from typing import Any

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.analytics.insights import objective_services as services
from controlplane.analytics.insights.targets import SECONDS_MAX, SHARE_MAX, SHARE_MIN
from controlplane.analytics.objective_models import GROUP_MAX, LITERAL, MATCH_CHOICES, TOPIC_MAX
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of
from controlplane.common.serializers import Shape, etag_field, page_serializer
from controlplane.tenants.views import TenantView

TAG = "analytics"


class LagObjectiveSerializer(Shape):
    id = serializers.CharField()
    cluster_id = serializers.CharField(allow_null=True, help_text="null: every cluster.")
    match = serializers.ChoiceField(MATCH_CHOICES)
    group = serializers.CharField(allow_null=True, help_text="null: every group.")
    topic = serializers.CharField(allow_null=True, help_text="null: every topic.")
    seconds = serializers.FloatField()
    share = serializers.FloatField()
    note = serializers.CharField(allow_blank=True)
    created_by = serializers.CharField()
    created_at = serializers.DateTimeField()
    etag = etag_field()


LagObjectivePageSerializer = page_serializer(LagObjectiveSerializer)


class LagObjectiveChangeSerializer(Shape):
    seconds = serializers.FloatField(
        min_value=0, max_value=SECONDS_MAX, help_text="Of time lag that is good enough."
    )
    share = serializers.FloatField(
        min_value=SHARE_MIN, max_value=SHARE_MAX, help_text="Of the time in which it is to be so."
    )
    note = serializers.CharField(max_length=300, allow_blank=True, default="")


class LagObjectiveInputSerializer(LagObjectiveChangeSerializer):
    cluster_id = serializers.CharField(max_length=40, allow_null=True, default=None)
    match = serializers.ChoiceField(MATCH_CHOICES, default=LITERAL)
    group = serializers.CharField(max_length=GROUP_MAX, allow_null=True, default=None)
    topic = serializers.CharField(max_length=TOPIC_MAX, allow_null=True, default=None)


class LagObjectivesView(TenantView):
    @documented(
        "lag_objective_list",
        answers={200: LagObjectivePageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="The lag objectives that the tenant has set",
    )
    def get(self, request: Request) -> Response:
        rows = services.objectives_of(self.tenant)
        return Response(page_of(request, rows, services.objective_dict))

    @documented(
        "lag_objective_create",
        body=LagObjectiveInputSerializer,
        answers={201: LagObjectiveSerializer},
        tag=TAG,
        summary="Say how late groups may be, and for how much of the time",
    )
    def post(self, request: Request) -> Response:
        given = LagObjectiveInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = services.objective_create(
            tenant=self.tenant,
            scope=self.scope,
            given=given.validated_data,
            actor=self.access.actor,
        )
        return Response(services.objective_dict(row), status=status.HTTP_201_CREATED)


class LagObjectiveView(TenantView):
    def held(self, objective_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        return services.objective_dict(
            services.objective_row(self.tenant, objective_id, locked=True)
        )

    @documented(
        "lag_objective_get",
        answers={200: LagObjectiveSerializer},
        tag=TAG,
        summary="One lag objective",
    )
    def get(self, request: Request, objective_id: str) -> Response:
        row = services.objective_row(self.tenant, objective_id)
        return Response(services.objective_dict(row))

    @documented(
        "lag_objective_change",
        body=LagObjectiveChangeSerializer,
        answers={200: LagObjectiveSerializer},
        tag=TAG,
        summary="Change how late is late",
    )
    def put(self, request: Request, objective_id: str) -> Response:
        # What is not there is said before what is wrong with the body.
        services.objective_row(self.tenant, objective_id)
        given = LagObjectiveChangeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        row = services.objective_change(
            tenant=self.tenant,
            objective_id=objective_id,
            given=given.validated_data,
            actor=self.access.actor,
        )
        return Response(services.objective_dict(row))

    @documented(
        "lag_objective_delete",
        answers={204: None},
        tag=TAG,
        summary="Go back to what the wider objectives say",
    )
    def delete(self, request: Request, objective_id: str) -> Response:
        services.objective_delete(
            tenant=self.tenant, objective_id=objective_id, actor=self.access.actor
        )
        return Response(status=status.HTTP_204_NO_CONTENT)
