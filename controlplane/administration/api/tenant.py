"""What a tenant's owners administer: members, invitations, service accounts, rotation of keys."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.administration import selectors
from controlplane.administration.serializers import (
    DepartureSerializer,
    InvitationCreatedSerializer,
    InvitationInputSerializer,
    InvitationPageSerializer,
    InvitationSerializer,
    KeyRotatedSerializer,
    KeyRotationSerializer,
    MemberInputSerializer,
    MemberPageSerializer,
    MemberSerializer,
    ServiceAccountChangeSerializer,
    ServiceAccountInputSerializer,
    ServiceAccountPageSerializer,
    ServiceAccountSerializer,
)
from controlplane.administration.services import invitations, keys, members
from controlplane.common.grants import Verb
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of
from controlplane.common.times import iso
from controlplane.tenants.selectors import api_key_dict, api_key_row
from controlplane.tenants.services import service_account_create
from controlplane.tenants.views import TenantView

TAG = "administration"


class MembersView(TenantView):
    needs = Verb.ADMINISTER

    @documented(
        "member_list",
        answers={200: MemberPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="Who belongs to the tenant",
    )
    def get(self, request: Request) -> Response:
        return Response(page_of(request, selectors.members(self.tenant), selectors.member_dict))


class MemberView(TenantView):
    needs = Verb.ADMINISTER

    def held(self, username: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        return selectors.member_dict(selectors.member_row(self.tenant, username, locked=True))

    @documented("member_get", answers={200: MemberSerializer}, tag=TAG, summary="One member")
    def get(self, request: Request, username: str) -> Response:
        return Response(selectors.member_dict(selectors.member_row(self.tenant, username)))

    @documented(
        "member_change",
        body=MemberInputSerializer,
        answers={200: MemberSerializer},
        tag=TAG,
        summary="Give a member another role or other grants",
    )
    def put(self, request: Request, username: str) -> Response:
        given = MemberInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        member = members.member_change(
            tenant=self.tenant, username=username, actor=self.access.actor, **given.validated_data
        )
        return Response(selectors.member_dict(member))

    @documented(
        "member_remove",
        answers={200: DepartureSerializer},
        tag=TAG,
        summary="Remove a member; the last owner stays",
    )
    def delete(self, request: Request, username: str) -> Response:
        departure = members.member_remove(
            tenant=self.tenant, username=username, actor=self.access.actor
        )
        return Response(asdict(departure))


class InvitationsView(TenantView):
    needs = Verb.ADMINISTER
    shows_secret = True

    @documented(
        "invitation_list",
        answers={200: InvitationPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="Invitations, without their links",
    )
    def get(self, request: Request) -> Response:
        rows = selectors.invitations(self.tenant)
        return Response(page_of(request, rows, selectors.invitation_dict))

    @documented(
        "invitation_create",
        body=InvitationInputSerializer,
        answers={201: InvitationCreatedSerializer},
        tag=TAG,
        summary="Make a one-time link into the tenant",
    )
    def post(self, request: Request) -> Response:
        given = InvitationInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        values = dict(given.validated_data)
        link = invitations.invite(
            tenant=self.tenant,
            actor=self.access.actor,
            lifetime=timedelta(seconds=values.pop("lifetime_s")),
            **values,
        )
        body = {**selectors.invitation_dict(link.invitation), "path": link.path}
        return Response(body, status=status.HTTP_201_CREATED)


class InvitationView(TenantView):
    needs = Verb.ADMINISTER

    def held(self, invitation_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        row = selectors.invitation_row(self.tenant, invitation_id, locked=True)
        return selectors.invitation_dict(row)

    @documented(
        "invitation_get",
        answers={200: InvitationSerializer},
        tag=TAG,
        summary="One invitation, without its link",
    )
    def get(self, request: Request, invitation_id: str) -> Response:
        row = selectors.invitation_row(self.tenant, invitation_id)
        return Response(selectors.invitation_dict(row))

    @documented(
        "invitation_revoke", answers={204: None}, tag=TAG, summary="Revoke an open invitation"
    )
    def delete(self, request: Request, invitation_id: str) -> Response:
        invitations.invitation_revoke(
            tenant=self.tenant, invitation_id=invitation_id, actor=self.access.actor
        )
        return Response(status=status.HTTP_204_NO_CONTENT)


class ServiceAccountsView(TenantView):
    needs = Verb.ADMINISTER

    @documented(
        "service_account_list",
        answers={200: ServiceAccountPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="The tenant's machines, which own its keys",
    )
    def get(self, request: Request) -> Response:
        rows = selectors.service_accounts(self.tenant)
        return Response(page_of(request, rows, selectors.service_account_dict))

    @documented(
        "service_account_create",
        body=ServiceAccountInputSerializer,
        answers={201: ServiceAccountSerializer},
        tag=TAG,
        summary="Make a service account",
    )
    def post(self, request: Request) -> Response:
        given = ServiceAccountInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        made = service_account_create(
            tenant=self.tenant, actor=self.access.actor, **given.validated_data
        )
        body = selectors.service_account_detail(self.tenant, made.pk)
        return Response(body, status=status.HTTP_201_CREATED)


class ServiceAccountView(TenantView):
    needs = Verb.ADMINISTER

    def held(self, account_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        return selectors.service_account_detail(self.tenant, account_id, locked=True)

    @documented(
        "service_account_get",
        answers={200: ServiceAccountSerializer},
        tag=TAG,
        summary="One service account",
    )
    def get(self, request: Request, account_id: str) -> Response:
        return Response(selectors.service_account_detail(self.tenant, account_id))

    @documented(
        "service_account_change",
        body=ServiceAccountChangeSerializer,
        answers={200: ServiceAccountSerializer},
        tag=TAG,
        summary="Describe a service account; disable or enable its keys",
    )
    def put(self, request: Request, account_id: str) -> Response:
        given = ServiceAccountChangeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        keys.service_account_update(
            tenant=self.tenant,
            account_id=account_id,
            description=given.validated_data["description"],
            is_disabled=given.validated_data["disabled"],
            actor=self.access.actor,
        )
        return Response(selectors.service_account_detail(self.tenant, account_id))


class KeyRotationView(TenantView):
    needs = Verb.ADMINISTER
    shows_secret = True

    def held(self, key_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        return api_key_dict(api_key_row(self.tenant, key_id, locked=True))

    @documented(
        "api_key_rotate",
        body=KeyRotationSerializer,
        answers={201: KeyRotatedSerializer},
        tag=TAG,
        summary="Exchange an API key for one with the same rights",
    )
    def post(self, request: Request, key_id: str) -> Response:
        given = KeyRotationSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        new, text, ends_at = keys.api_key_rotate(
            tenant=self.tenant,
            key_id=key_id,
            actor=self.access.actor,
            maker_id=request.user.pk,
            **given.validated_data,
        )
        body = {
            **api_key_dict(new),
            "key": text,
            "replaces": key_id,
            "replaced_ends_at": iso(ends_at),
        }
        return Response(body, status=status.HTTP_201_CREATED)
