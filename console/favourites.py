"""`/console/api/favourites`: what a person has marked, of what they see."""

from typing import Any

from django.contrib.auth.models import User
from django.urls import URLPattern, path
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_protect
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from console import session
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.limits import SMALL_BODY_MAX_BYTES
from controlplane.common.openapi import documented
from controlplane.common.parsers import JsonBodyParser
from controlplane.common.problems import NotFound
from controlplane.common.serializers import Shape
from controlplane.observed.readers import Reader
from controlplane.observed.sections import GROUPS, TOPICS
from controlplane.operations.scopes import cluster_names
from controlplane.tenants.authentication import ConsoleSessionAuthentication
from controlplane.tenants.context import AccessContext
from controlplane.tenants.favourites import favourite_set, favourites
from controlplane.tenants.models import FAVOURITE_KINDS, FAVOURITE_NAME_MAX

SECTIONS = {"topic": TOPICS, "group": GROUPS}
NO_STORE = {"Cache-Control": "no-store"}


class FavouriteSerializer(Shape):
    kind = serializers.ChoiceField(FAVOURITE_KINDS)
    cluster_id = serializers.CharField(max_length=40)
    name = serializers.CharField(max_length=FAVOURITE_NAME_MAX, trim_whitespace=False)


class FavouriteChoiceSerializer(FavouriteSerializer):
    is_favourite = serializers.BooleanField()


class FavouriteListSerializer(Shape):
    data = FavouriteSerializer(many=True)  # type: ignore[assignment] # a field


class SmallBodyParser(JsonBodyParser):
    bytes_max = SMALL_BODY_MAX_BYTES


@method_decorator(csrf_protect, name="dispatch")
class FavouritesView(APIView):
    """A person's own, in the session's tenant: no key has any, and no role is needed for some."""

    authentication_classes = (ConsoleSessionAuthentication,)
    permission_classes = (AllowAny,)
    parser_classes = (SmallBodyParser,)

    @documented(
        "console_favourites",
        answers={200: FavouriteListSerializer},
        tag="console",
        summary="What one has marked, oldest first",
    )
    def get(self, request: Request) -> Response:
        access, user = _who(request)
        return _answer(access, user)

    @documented(
        "console_favourite_set",
        body=FavouriteChoiceSerializer,
        answers={200: FavouriteListSerializer},
        tag="console",
        summary="Mark a topic or group, or take the mark away",
    )
    def post(self, request: Request) -> Response:
        access, user = _who(request)
        given = FavouriteChoiceSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        wanted: dict[str, Any] = given.validated_data
        if wanted["is_favourite"]:
            cluster = seen_cluster(access.tenant, access.scope, wanted["cluster_id"])
            reader = reader_of(cluster, access.scope)
            if not reader.covers(SECTIONS[wanted["kind"]], wanted["name"]):
                raise NotFound(f"There is no {wanted['kind']} {wanted['name']}.")
        clusters = [*cluster_names(access.tenant.pk)]
        favourite_set(access.tenant, user, **wanted, clusters=clusters)
        return _answer(access, user)


def _who(request: Request) -> tuple[AccessContext, User]:
    """Raises SignedOut: nobody is; NotFound: the session's tenant is none of theirs."""
    access = session.access_of(request)
    user = request.user
    if not isinstance(user, User):
        raise session.SignedOut
    return access, user


def _answer(access: AccessContext, user: User) -> Response:
    names = cluster_names(access.tenant.pk)
    rows = [
        {"kind": row.kind, "cluster_id": row.cluster_id, "name": row.name}
        for row in favourites(access.tenant, user)
        if row.cluster_id in names
        and Reader(access.scope, row.cluster_id, names[row.cluster_id]).covers(
            SECTIONS[row.kind], row.name
        )
    ]
    return Response({"data": rows}, headers=NO_STORE)


def favourite_urls() -> list[URLPattern]:
    return [path("console/api/favourites", FavouritesView.as_view())]
