"""`/clusters/{id}/users`, `…/users/{user}/client-config`, `/overlaps`, `/acls`,
`/quotas`, and `/access/…`:
`denials`, `drift`, `matrix`, `decision`, `templates`.
"""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.access import selectors
from controlplane.access.decisions.authorizer import Question
from controlplane.access.decisions.matrix import Wanted, matrix
from controlplane.access.decisions.templates import TEMPLATES
from controlplane.access.denials import denied_attempts
from controlplane.access.inputs import RESOURCE_TYPES
from controlplane.access.paged import quotas_matching
from controlplane.access.readings import authorizer_settings
from controlplane.access.serializers import (
    QUESTION_OPERATIONS,
    AccessDecisionSerializer,
    AccessDriftSerializer,
    AccessMatrixSerializer,
    AccessQuestionSerializer,
    AclPageSerializer,
    AclTemplateListSerializer,
    ClientQuotaListSerializer,
    DeniedAttemptPageSerializer,
    KafkaUserPageSerializer,
    PasswordOverlapListSerializer,
)
from controlplane.clusters.selectors import reader_of, seen_cluster, seen_gateway
from controlplane.clusters.serializers import UserClientConfigSerializer
from controlplane.common.grants import Area
from controlplane.common.openapi import PAGED, SEARCH, documented
from controlplane.common.paging import page_of_list, page_of_source
from controlplane.common.problems import field_problem
from controlplane.observed.api import observed_list
from controlplane.observed.listings import SEARCH_MAX
from controlplane.observed.sections import ACLS, USERS
from controlplane.tenants.views import TenantView

TAG = "access"
QUESTION = [
    OpenApiParameter("principal", str, description="`User:<name>`; User:ANONYMOUS by default."),
    OpenApiParameter(
        "operation", str, enum=QUESTION_OPERATIONS, description="DESCRIBE by default."
    ),
    OpenApiParameter("resource_type", str, enum=RESOURCE_TYPES, description="CLUSTER by default."),
    OpenApiParameter("resource_name", str, description="Needed but for the cluster."),
    OpenApiParameter("host", str, description="The client's address; else one that no ACL names."),
]
SEARCHED_QUOTAS = OpenApiParameter(
    "q", str, description="A part of whom a quota is of, in words, in any case."
)
MATRIX = [
    *PAGED,
    OpenApiParameter("principal", str, description="A part of the principal, in any case."),
    OpenApiParameter("resource", str, description="A part of the resource's name, in any case."),
    OpenApiParameter("resource_type", str, enum=RESOURCE_TYPES, description="Of this type only."),
]


class UsersView(TenantView):
    area = Area.ACCESS

    @documented(
        "kafka_user_list",
        answers={200: KafkaUserPageSerializer},
        parameters=[*PAGED, SEARCH],
        tag=TAG,
        summary="Users of a cluster",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        reader = reader_of(cluster, self.scope)
        return Response(observed_list(request, reader, USERS, selectors.user_row))


class UserClientConfigView(TenantView):
    area = Area.ACCESS

    @documented(
        "kafka_user_client_config",
        answers={200: UserClientConfigSerializer},
        tag=TAG,
        summary="How clients of one user connect: by the mechanism of its newest password",
    )
    def get(self, request: Request, cluster_id: str, kafka_user: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        reader = reader_of(cluster, self.scope)
        return Response(selectors.user_client_config(reader, cluster, kafka_user))


class OverlapsView(TenantView):
    area = Area.ACCESS

    @documented(
        "password_overlap_list",
        answers={200: PasswordOverlapListSerializer},
        tag=TAG,
        summary="Users with an old and a new password, and until when",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        return Response({"data": selectors.overlap_list(cluster, self.scope)})


class AclsView(TenantView):
    area = Area.ACCESS

    @documented(
        "acl_list",
        answers={200: AclPageSerializer},
        parameters=[*PAGED, SEARCH],
        tag=TAG,
        summary="Access rules of a cluster",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        reader = reader_of(cluster, self.scope)
        return Response(observed_list(request, reader, ACLS, selectors.acl_row))


class DeniedAttemptsView(TenantView):
    area = Area.ACCESS

    @documented(
        "denied_attempt_list",
        answers={200: DeniedAttemptPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="What brokers denied, by their audit logs, read now; the newest first",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        brokers: list[dict[str, Any]] = []

        def read(place: str | None, size: int) -> tuple[list[dict[str, Any]], str | None]:
            found = denied_attempts(self.scope, cluster)
            brokers.extend(found["brokers"])
            start = int(place or 0)
            end = start + size
            rows = found["attempts"]
            return rows[start:end], str(end) if len(rows) > end else None

        page = page_of_source(request, read)
        return Response({**page, "brokers": brokers})


class AccessDriftView(TenantView):
    area = Area.ACCESS

    @documented(
        "access_drift",
        answers={200: AccessDriftSerializer},
        tag=TAG,
        summary="Users and rules that are not as the last verified operation left them",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        return Response(selectors.access_drift(reader_of(cluster, self.scope)))


class AccessMatrixView(TenantView):
    area = Area.ACCESS

    @documented(
        "access_matrix",
        answers={200: AccessMatrixSerializer},
        parameters=MATRIX,
        tag=TAG,
        summary="Principals × resources: what ACLs allow and deny",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        wanted = _wanted(request)
        every, at = selectors.observed_rules(reader_of(cluster, self.scope))
        rules = selectors.wanted_rules(every, wanted)
        principals = sorted({rule.principal for rule in rules})
        page = page_of_list(request, [{"principal": each} for each in principals], "principal")
        shown = matrix(rules, [row["principal"] for row in page["data"]])
        return Response(
            {
                "data": shown["rows"],
                "resources": shown["resources"],
                "columns_left_out": shown["columns_left_out"],
                "principals": len(principals),
                "page": page["page"],
                "observed": at.as_row(),
            }
        )


class AccessDecisionView(TenantView):
    area = Area.ACCESS

    @documented(
        "access_decision",
        answers={200: AccessDecisionSerializer},
        parameters=QUESTION,
        tag=TAG,
        summary="Can a principal do this, and why (not)",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        reader = reader_of(cluster, self.scope)
        reader.require(ACLS)
        given = AccessQuestionSerializer(data=request.query_params)
        given.is_valid(raise_exception=True)
        settings, unknown = authorizer_settings(seen_gateway(cluster, self.scope))
        question = Question(**given.validated_data)
        return Response(selectors.access_decision(reader, question, settings, unknown))


class QuotasView(TenantView):
    area = Area.ACCESS

    @documented(
        "client_quota_list",
        answers={200: ClientQuotaListSerializer},
        parameters=[SEARCHED_QUOTAS],
        tag=TAG,
        summary="Quotas of users and client ids, as brokers keep them, or kept them last",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        search = request.query_params.get("q", "")
        if len(search) > SEARCH_MAX:
            raise field_problem("/q", f"q has at most {SEARCH_MAX} characters.")
        gateway = seen_gateway(cluster, self.scope)
        found = selectors.quota_list(reader_of(cluster, self.scope), gateway)
        return Response({**found, "data": quotas_matching(found["data"], search)})


class AclTemplatesView(TenantView):
    area = Area.ACCESS

    @documented(
        "acl_template_list",
        answers={200: AclTemplateListSerializer},
        tag=TAG,
        summary="Templates of ACLs: what kinds of applications need",
    )
    def get(self, request: Request, cluster_id: str) -> Response:
        seen_cluster(self.tenant, self.scope, cluster_id)
        return Response({"data": [template.as_row() for template in TEMPLATES]})


def _wanted(request: Request) -> Wanted:
    given = {
        name: request.query_params.get(name, "")
        for name in ("principal", "resource", "resource_type")
    }
    for name, value in given.items():
        if len(value) > SEARCH_MAX:
            raise field_problem(f"/{name}", f"{name} has at most {SEARCH_MAX} characters.")
    if given["resource_type"] not in {"", *RESOURCE_TYPES}:
        known = ", ".join(RESOURCE_TYPES)
        raise field_problem("/resource_type", f"resource_type is one of {known}.")
    return Wanted(**given)
