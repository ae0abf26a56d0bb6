"""What a page with a list takes behind the question mark, and what of it makes no sense."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Protocol

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from controlplane.common.openapi import SEARCH
from controlplane.common.problems import field_problem
from controlplane.observed.listings import PAGE_MAX, SEARCH_MAX, SIZE_DEFAULT, SIZE_MAX, Wanted
from controlplane.tenants.context import AccessContext
from controlplane.tenants.favourites import favourite_names
from controlplane.tenants.models import Tenant

FIRST, ONLY = FAVOURITES = ("first", "only")
BOOLEANS = {"true": True, "false": False}
PAGED = (
    OpenApiParameter("page", int, description="From 1; one that is too far is the last."),
    OpenApiParameter("size", int, description=f"1 to {SIZE_MAX}, {SIZE_DEFAULT} by default."),
)


class PageQuery(Protocol):
    """What a page takes behind the question mark.

    What is wanted has a `repr` of all that it says, and `first`: names that somebody has marked.
    """

    def parameters(self) -> list[OpenApiParameter]: ...

    def asked(self, request: Request, access: AccessContext, address: dict[str, str]) -> Any:
        """Raises Problem: it names what makes no sense."""
        ...


@dataclass(frozen=True, slots=True)
class ListQuery:
    """The lists' own orders and filters; each filter is a parameter of its name that is `true`.

    Attributes:
        default: the order when none is asked for, as `sort` takes it.
        kind: of its rows, as favourites have it.
    """

    orders: Collection[str]
    filters: Collection[str]
    default: str
    kind: str

    def parameters(self, *, paged: bool = True) -> list[OpenApiParameter]:
        """Those of a page, or of the whole list."""
        orders = [order for name in self.orders for order in (name, f"-{name}")]
        return [
            SEARCH,
            OpenApiParameter(
                "sort",
                str,
                enum=orders,
                description=f"{self.default} by default; with a minus the largest first."
                " What is unknown comes last either way.",
            ),
            *(PAGED if paged else ()),
            *(OpenApiParameter(name, bool) for name in self.filters),
            OpenApiParameter(
                "favourites",
                str,
                enum=FAVOURITES,
                description="What the person has marked before all others, or alone.",
            ),
        ]

    def asked(self, request: Request, access: AccessContext, address: dict[str, str]) -> Wanted:
        return self.wanted(request, access.tenant, address["cluster_id"])

    def wanted(self, request: Request, tenant: Tenant, cluster_id: str) -> Wanted:
        """What a request asks for. A key has no favourites.

        Raises Invalid: it names the parameter.
        """
        given = request.query_params
        search = given.get("q", "")
        if len(search) > SEARCH_MAX:
            raise field_problem("/q", f"q has at most {SEARCH_MAX} characters.")
        order, is_descending = order_in(request, "sort", self.orders, self.default)
        favourites = given.get("favourites")
        if favourites not in {None, *FAVOURITES}:
            raise field_problem("/favourites", f"favourites is {FIRST} or {ONLY}.")
        first: frozenset[str] = frozenset()
        if favourites is not None and isinstance(request.user, User):
            first = favourite_names(tenant, request.user, self.kind, cluster_id)
        return Wanted(
            first=first,
            only_first=favourites == ONLY,
            search=search,
            sort=order,
            is_descending=is_descending,
            page=number_in(request, "page", 1, PAGE_MAX),
            size=number_in(request, "size", SIZE_DEFAULT, SIZE_MAX),
            filters=frozenset(name for name in self.filters if _flag(request, name)),
        )


def order_in(
    request: Request, name: str, orders: Collection[str], default: str
) -> tuple[str, bool]:
    """An order's name, and whether it is descending, of the parameter `name`."""
    sort = request.query_params.get(name, default)
    order = sort.removeprefix("-")
    if order not in orders:
        raise field_problem(f"/{name}", f"{name} is one of {', '.join(orders)}, or with a -.")
    return order, sort.startswith("-")


def number_in(request: Request, name: str, default: int, most: int) -> int:
    raw = request.query_params.get(name, str(default))
    is_number = raw.isascii() and raw.isdigit() and len(raw) < 10
    if not is_number or not 1 <= int(raw) <= most:
        raise field_problem(f"/{name}", f"{name} is a number from 1 to {most}.")
    return int(raw)


def _flag(request: Request, name: str) -> bool:
    raw = request.query_params.get(name, "false")
    if raw not in BOOLEANS:
        raise field_problem(f"/{name}", f"{name} is true or false.")
    return BOOLEANS[raw]
