"""`/clusters/{id}/users`, `…/users/{user}/client-config`, `/overlaps`, `/acls`, `/access/drift`."""

from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.access import selectors
from controlplane.access.serializers import (
    AccessDriftSerializer,
    AclPageSerializer,
    KafkaUserPageSerializer,
    PasswordOverlapListSerializer,
)
from controlplane.clusters.selectors import reader_of, seen_cluster, seen_gateway
from controlplane.clusters.serializers import ClientConfigSerializer
from controlplane.common.grants import Area
from controlplane.common.openapi import PAGED, SEARCH, documented
from controlplane.observed.api import observed_list
from controlplane.observed.sections import ACLS, USERS
from controlplane.tenants.views import TenantView

TAG = "access"


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
        answers={200: ClientConfigSerializer},
        tag=TAG,
        summary="How clients of one user connect: by the mechanism of its newest password",
    )
    def get(self, request: Request, cluster_id: str, kafka_user: str) -> Response:
        cluster = seen_cluster(self.tenant, self.scope, cluster_id)
        gateway = seen_gateway(cluster, self.scope)
        return Response(selectors.user_client_config(cluster, gateway, kafka_user))


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
