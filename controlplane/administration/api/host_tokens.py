"""Tokens by which hosts join: `/operator/host-tokens…`; the door of the hosts, `/agents/join`."""

from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from controlplane.administration import selectors
from controlplane.administration.serializers import (
    HostTokenCreatedSerializer,
    HostTokenInputSerializer,
    HostTokenPageSerializer,
    HostTokenSerializer,
    JoinInputSerializer,
)
from controlplane.administration.services import host_tokens
from controlplane.administration.views import OperatorView
from controlplane.common.grants import EVERYTHING
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of
from controlplane.tenants.context import actor_of

TAG = "operator"


class OperatorHostTokensView(OperatorView):
    shows_secret = True

    @documented(
        "operator_host_token_list",
        answers={200: HostTokenPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="Tokens by which hosts join, used and unused",
    )
    def get(self, request: Request) -> Response:
        return Response(page_of(request, selectors.host_tokens(), selectors.host_token_dict))

    @documented(
        "operator_host_token_create",
        body=HostTokenInputSerializer,
        answers={201: HostTokenCreatedSerializer},
        tag=TAG,
        summary="Make a token by which one host joins, once",
    )
    def post(self, request: Request) -> Response:
        given = HostTokenInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        made = host_tokens.token_make(actor=self.actor, **given.validated_data)
        body = {**selectors.host_token_dict(made.row), "token": made.text}
        return Response(body, status=status.HTTP_201_CREATED)


class OperatorHostTokenView(OperatorView):
    def held(self, token_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        return selectors.host_token_dict(host_tokens.token_row(token_id, locked=True))

    @documented(
        "operator_host_token_get",
        answers={200: HostTokenSerializer},
        tag=TAG,
        summary="One token by which a host joins; never its text",
    )
    def get(self, request: Request, token_id: str) -> Response:
        return Response(selectors.host_token_dict(host_tokens.token_row(token_id)))

    @documented(
        "operator_host_token_revoke",
        answers={204: None},
        tag=TAG,
        summary="End a token that no host has used",
    )
    def delete(self, request: Request, token_id: str) -> Response:
        host_tokens.token_revoke(token_id=token_id, actor=self.actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


class JoinView(APIView):
    """The token is all that a host has yet; it is in the body, so in no log of addresses."""

    schema = None  # hosts alone call it, with `python -m dataplane join`
    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()

    def post(self, request: Request) -> Response:
        given = JoinInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        actor = actor_of(request, "host", EVERYTHING)
        found = host_tokens.host_join(token=given.validated_data["token"], actor=actor)
        return Response(found, headers={"Cache-Control": "no-store"})
