"""What the page of users and ACLs takes behind the question mark: of each of its lists."""

from collections.abc import Collection
from dataclasses import dataclass

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from console.list_query import number_in, order_in
from controlplane.access.lists import ACL_ORDERS, USER_ORDERS
from controlplane.access.paged import DRIFT_ORDERS, QUOTA_ORDERS
from controlplane.common.problems import field_problem
from controlplane.observed.listings import PAGE_MAX, SEARCH_MAX, Wanted
from controlplane.tenants.context import AccessContext

ACLS, USERS, QUOTAS, DRIFT = "", "users_", "quotas_", "drift_"
"""What the names of a list's parameters begin with."""
LISTS: dict[str, tuple[Collection[str], str, str]] = {
    ACLS: (ACL_ORDERS, "principal", "A part of what an ACL says, in any case."),
    USERS: (USER_ORDERS, "username", "A part of the name, in any case."),
    QUOTAS: (QUOTA_ORDERS, "words", "A part of whom a quota is of, in any case."),
    DRIFT: (DRIFT_ORDERS, "name", "A part of the name, or of how it is or was left, in any case."),
}


@dataclass(frozen=True, slots=True)
class AccessWanted:
    """`first`: nothing that somebody has marked comes first."""

    users: Wanted
    acls: Wanted
    quotas: Wanted
    drift: Wanted
    first: frozenset[str] = frozenset()


class AccessQuery:
    def parameters(self) -> list[OpenApiParameter]:
        return [
            parameter
            for prefix, (orders, default, searched) in LISTS.items()
            for parameter in (
                OpenApiParameter(f"{prefix}q", str, description=searched),
                OpenApiParameter(
                    f"{prefix}sort",
                    str,
                    enum=[order for each in orders for order in (each, f"-{each}")],
                    description=f"{default} by default.",
                ),
                OpenApiParameter(
                    f"{prefix}page", int, description="From 1; one that is too far is the last."
                ),
            )
        ]

    def asked(
        self, request: Request, access: AccessContext, address: dict[str, str]
    ) -> AccessWanted:
        del access, address
        return AccessWanted(
            users=_wanted(request, USERS),
            acls=_wanted(request, ACLS),
            quotas=_wanted(request, QUOTAS),
            drift=_wanted(request, DRIFT),
        )


def _wanted(request: Request, prefix: str) -> Wanted:
    orders, default, _ = LISTS[prefix]
    name = f"{prefix}q"
    search = request.query_params.get(name, "")
    if len(search) > SEARCH_MAX:
        raise field_problem(f"/{name}", f"{name} has at most {SEARCH_MAX} characters.")
    order, is_descending = order_in(request, f"{prefix}sort", orders, default)
    page = number_in(request, f"{prefix}page", 1, PAGE_MAX)
    return Wanted(search=search, sort=order, is_descending=is_descending, page=page)
