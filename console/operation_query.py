"""What the page of operations takes behind the question mark, and what of it makes no sense."""

from dataclasses import dataclass

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from controlplane.clusters.selectors import seen_cluster
from controlplane.common.openapi import CURSOR
from controlplane.common.paging import place_asked
from controlplane.common.problems import field_problem
from controlplane.operations.models import Operation
from controlplane.operations.operations import kind_names
from controlplane.operations.selectors import SEARCHED_MAX, filtered
from controlplane.tenants.context import AccessContext

SEARCH_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationsWanted:
    """What of a tenant's operations is asked for.

    Attributes:
        search: a part of an id, a resource or an actor.
        kinds: that match the search as well, whatever those are about: their names for people are
            the console's.
        place: the operation that the page goes on behind; None: from the newest.
        path: of the list, whose cursors are good for no other.
        first: nothing that somebody has marked comes first.
    """

    path: str
    search: str = ""
    kinds: tuple[str, ...] = ()
    state: str | None = None
    cluster_id: str | None = None
    place: str | None = None
    first: frozenset[str] = frozenset()


class OperationsQuery:
    def parameters(self) -> list[OpenApiParameter]:
        return [
            OpenApiParameter(
                "q",
                str,
                description="A part of the id, of what it is about or of who began it, in any case;"
                f" looked for in the newest {SEARCHED_MAX:,}.",
            ),
            OpenApiParameter("kinds", str, description="Kinds by comma that match `q` as well."),
            OpenApiParameter("state", str, description="A state, several by comma, or `active`."),
            OpenApiParameter("cluster_id", str),
            CURSOR,
        ]

    def asked(
        self, request: Request, access: AccessContext, address: dict[str, str]
    ) -> OperationsWanted:
        """What a request asks for; nothing of it is in the address.

        Raises:
            Invalid: it names the parameter.
            NotFound: there is no such cluster for who asks.
        """
        del address
        given = request.query_params
        search = given.get("q", "")
        if len(search) > SEARCH_MAX:
            raise field_problem("/q", f"q has at most {SEARCH_MAX} characters.")
        kinds = tuple(filter(None, given.get("kinds", "").split(",")))
        if unknown := sorted({*kinds} - {*kind_names()}):
            raise field_problem("/kinds", f"kinds: {unknown[0]!r} is no kind of operation.")
        state = given.get("state") or None
        filtered(Operation.objects.none(), cluster_id=None, state=state)
        cluster_id = given.get("cluster_id") or None
        if cluster_id is not None:
            seen_cluster(access.tenant, access.scope, cluster_id, with_brokers=False)
        return OperationsWanted(
            path=request.path,
            search=search,
            kinds=kinds,
            state=state,
            cluster_id=cluster_id,
            place=place_asked(request),
        )
