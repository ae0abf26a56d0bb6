"""What the page of lag and retention takes behind the question mark: of two lists."""

from collections.abc import Collection
from dataclasses import dataclass

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from console.list_query import number_in, order_in
from controlplane.analytics.lists import LAG_ORDERS, RETENTION_ORDERS
from controlplane.observed.listings import PAGE_MAX, Wanted
from controlplane.tenants.context import AccessContext

LAG, TOPICS = "", "topics_"
"""What the names of a list's parameters begin with."""
LISTS = {LAG: (LAG_ORDERS, "-records"), TOPICS: (RETENTION_ORDERS, "-bytes")}


@dataclass(frozen=True, slots=True)
class AnalyticsWanted:
    """`first`: nothing that somebody has marked comes first."""

    lag: Wanted
    topics: Wanted
    first: frozenset[str] = frozenset()


class AnalyticsQuery:
    def parameters(self) -> list[OpenApiParameter]:
        return [
            parameter
            for prefix, (orders, default) in LISTS.items()
            for parameter in (_sort(f"{prefix}sort", orders, default), _page(f"{prefix}page"))
        ]

    def asked(
        self, request: Request, access: AccessContext, address: dict[str, str]
    ) -> AnalyticsWanted:
        del access, address
        return AnalyticsWanted(_wanted(request, LAG), _wanted(request, TOPICS))


def _wanted(request: Request, prefix: str) -> Wanted:
    orders, default = LISTS[prefix]
    order, is_descending = order_in(request, f"{prefix}sort", orders, default)
    page = number_in(request, f"{prefix}page", 1, PAGE_MAX)
    return Wanted(sort=order, is_descending=is_descending, page=page)


def _sort(name: str, orders: Collection[str], default: str) -> OpenApiParameter:
    return OpenApiParameter(
        name,
        str,
        enum=[order for each in orders for order in (each, f"-{each}")],
        description=f"{default} by default; what is unknown comes last either way.",
    )


def _page(name: str) -> OpenApiParameter:
    return OpenApiParameter(name, int, description="From 1; one that is too far is the last.")
