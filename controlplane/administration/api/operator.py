"""What operators of the platform administer above tenants: `/operator/…`."""

from typing import Any

from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.administration import selectors
from controlplane.administration.serializers import (
    MemberSerializer,
    OperatorMemberInputSerializer,
    OperatorTenantChangeSerializer,
    OperatorTenantDetailSerializer,
    OperatorTenantInputSerializer,
    OperatorTenantPageSerializer,
    OperatorUserChangedSerializer,
    OperatorUserChangeSerializer,
    OperatorUserCreatedSerializer,
    OperatorUserInputSerializer,
    OperatorUserPageSerializer,
    OperatorUserSerializer,
    PasswordLinkSerializer,
)
from controlplane.administration.services import members, tenants, users
from controlplane.administration.services.invitations import Link
from controlplane.administration.views import OperatorView
from controlplane.common.openapi import PAGED, documented
from controlplane.common.paging import page_of
from controlplane.common.times import iso

TAG = "operator"


class OperatorTenantsView(OperatorView):
    @documented(
        "operator_tenant_list",
        answers={200: OperatorTenantPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="All tenants",
    )
    def get(self, request: Request) -> Response:
        return Response(page_of(request, selectors.tenants(), selectors.tenant_summary))

    @documented(
        "operator_tenant_create",
        body=OperatorTenantInputSerializer,
        answers={201: OperatorTenantDetailSerializer},
        tag=TAG,
        summary="Make a tenant",
    )
    def post(self, request: Request) -> Response:
        given = OperatorTenantInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        tenant = tenants.tenant_create(actor=self.actor, **given.validated_data)
        return Response(selectors.tenant_detail(tenant.pk), status=status.HTTP_201_CREATED)


class OperatorTenantView(OperatorView):
    def held(self, tenant_id: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        selectors.tenant_row(tenant_id, locked=True)
        return selectors.tenant_detail(tenant_id)

    @documented(
        "operator_tenant_get",
        answers={200: OperatorTenantDetailSerializer},
        tag=TAG,
        summary="One tenant, with what remains of it",
    )
    def get(self, request: Request, tenant_id: str) -> Response:
        return Response(selectors.tenant_detail(tenant_id))

    @documented(
        "operator_tenant_change",
        body=OperatorTenantChangeSerializer,
        answers={200: OperatorTenantDetailSerializer},
        tag=TAG,
        summary="Rename a tenant, suspend, resume or close it",
    )
    def put(self, request: Request, tenant_id: str) -> Response:
        tenant = selectors.tenant_row(tenant_id)
        given = OperatorTenantChangeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        tenants.tenant_update(tenant=tenant, actor=self.actor, **given.validated_data)
        return Response(selectors.tenant_detail(tenant_id))


class OperatorMembersView(OperatorView):
    @documented(
        "operator_member_add",
        body=OperatorMemberInputSerializer,
        answers={201: MemberSerializer},
        tag=TAG,
        summary="Make a user a member of a tenant",
    )
    def post(self, request: Request, tenant_id: str) -> Response:
        tenant = selectors.tenant_row(tenant_id)
        given = OperatorMemberInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        values = dict(given.validated_data)
        user = users.user_row(values.pop("username"))
        member = members.member_add(tenant=tenant, user=user, actor=self.actor, **values)
        return Response(selectors.member_dict(member), status=status.HTTP_201_CREATED)


class OperatorUsersView(OperatorView):
    shows_secret = True

    @documented(
        "operator_user_list",
        answers={200: OperatorUserPageSerializer},
        parameters=PAGED,
        tag=TAG,
        summary="All users",
    )
    def get(self, request: Request) -> Response:
        return Response(page_of(request, selectors.users(), selectors.user_dict))

    @documented(
        "operator_user_create",
        body=OperatorUserInputSerializer,
        answers={201: OperatorUserCreatedSerializer},
        tag=TAG,
        summary="Make a user, and the link by which a password is chosen",
    )
    def post(self, request: Request) -> Response:
        given = OperatorUserInputSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        user, link = users.user_create(actor=self.actor, **given.validated_data)
        body = {**selectors.user_dict(user), "link": link_dict(link)}
        return Response(body, status=status.HTTP_201_CREATED)


class OperatorUserView(OperatorView):
    def held(self, username: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        return selectors.user_dict(users.user_row(username, locked=True))

    @documented(
        "operator_user_get", answers={200: OperatorUserSerializer}, tag=TAG, summary="One user"
    )
    def get(self, request: Request, username: str) -> Response:
        return Response(selectors.user_dict(users.user_row(username)))

    @documented(
        "operator_user_change",
        body=OperatorUserChangeSerializer,
        answers={200: OperatorUserChangedSerializer},
        tag=TAG,
        summary="Change a user: end the login or let it in again, make an operator of it",
    )
    def put(self, request: Request, username: str) -> Response:
        users.user_row(username)
        given = OperatorUserChangeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        change = users.user_update(username=username, actor=self.actor, **given.validated_data)
        body = {
            **selectors.user_dict(change.user),
            "tenants_without_owner": change.tenants_without_owner,
            "link": link_dict(change.link),
        }
        return Response(body)


class OperatorUserLinkView(OperatorView):
    shows_secret = True

    def held(self, username: str) -> dict[str, Any]:  # type: ignore[override] # of its address
        return selectors.user_dict(users.user_row(username, locked=True))

    @documented(
        "operator_user_link",
        answers={201: PasswordLinkSerializer},
        tag=TAG,
        summary="Make another link to a password; links given before end",
    )
    def post(self, request: Request, username: str) -> Response:
        link = users.user_link(username=username, actor=self.actor)
        return Response(link_dict(link), status=status.HTTP_201_CREATED)


def link_dict(link: Link | None) -> dict[str, Any] | None:
    if link is None:
        return None
    return {"path": link.path, "expires_at": iso(link.invitation.expires_at)}
