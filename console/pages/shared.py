"""What the pages of one cluster share: the row, the way in, the recent operations."""

from collections.abc import Callable
from functools import partial
from typing import Any

from console.parts import Aged, Part
from controlplane.clusters.models import Cluster
from controlplane.clusters.selectors import cluster_get, reader_of, seen_cluster, seen_gateway
from controlplane.common.grants import Scope
from controlplane.common.problems import Unavailable
from controlplane.gateway.port import ClusterGateway
from controlplane.observed.listings import Listed, Wanted
from controlplane.observed.models import ObservedRow
from controlplane.observed.selectors import Section, rows_of, section
from controlplane.observed.services import observed_section
from controlplane.operations.selectors import operation_list
from controlplane.tenants.models import Tenant

RECENT_OPERATIONS = 12
NOT_SERVING = {
    "CREATING": "The cluster is still being created.",
    "DELETING": "The cluster is being deleted.",
    "FAILED": "The cluster has not come up; its operation says why.",
}

Render = Callable[[ObservedRow, Section], dict[str, Any]]
GatewayRead = Callable[[Cluster, ClusterGateway], Any]


def asked(
    cluster: Cluster, scope: Scope, read: GatewayRead, kept: Callable[[], Aged | None] | None = None
) -> Part:
    """A part that asks the brokers, of what `scope` covers; without brokers it says so at once.

    `kept` is what is shown while they do not answer.
    """

    def ask() -> Any:
        if cluster.phase in NOT_SERVING:
            raise Unavailable(NOT_SERVING[cluster.phase])
        return read(cluster, seen_gateway(cluster, scope))

    return Part(ask, remote=True, kept=None if cluster.phase in NOT_SERVING else kept)


def kept_of(
    cluster: Cluster, scope: Scope, name: str, read: Callable[[Section], Any]
) -> Callable[[], Aged | None]:
    """What `read` makes of an observed section, for a part that asks the brokers each time."""
    reader = reader_of(cluster, scope)

    def last_known() -> Aged | None:
        at = section(reader, name) if reader.may_see(name) else Section()
        return None if at.as_of is None else Aged(read(at), at.as_of, sentence(at.reason))

    return last_known


def observed(cluster: Cluster, scope: Scope, name: str, read: Callable[[Section], Any]) -> Part:
    """A part that `read` makes of an observed section; its age and reason are the section's.

    One that was never observed is asked of the brokers, beside the other parts.

    Raises:
        Forbidden: no grant covers the section.
    """
    return observed_parts(cluster, scope, name, it=read)["it"]


def observed_parts(
    cluster: Cluster, scope: Scope, name: str, **reads: Callable[[Section], Any]
) -> dict[str, Part]:
    """As `observed`, several parts of one section, which is looked up once."""
    reader = reader_of(cluster, scope)
    known = section(reader, name)
    is_known = known.as_of is not None

    def aged(read: Callable[[Section], Any]) -> Aged:
        if cluster.phase in NOT_SERVING:
            raise Unavailable(NOT_SERVING[cluster.phase])
        at = known if is_known else observed_section(reader, name)
        data = read(at)
        if at.as_of is None:
            raise at.problem()
        return Aged(data, at.as_of, sentence(at.reason))

    return {part: Part(partial(aged, read), remote=not is_known) for part, read in reads.items()}


def observed_list(cluster: Cluster, scope: Scope, name: str, render: Render) -> Part:
    """Every row of an observed section that `scope` covers."""
    reader = reader_of(cluster, scope)
    return observed(
        cluster, scope, name, lambda at: [render(row, at) for row in rows_of(reader, name)]
    )


def counts_of(page: Listed, wanted: Wanted) -> dict[str, Any]:
    """{page, size, matched, total} and the list's own figures."""
    return {
        "page": page.page,
        "size": wanted.size,
        "matched": page.matched,
        "total": page.total,
        **page.figures,
    }


def sentence(reason: str) -> str:
    """`broker 2 did not answer` as a person reads it; empty stays empty."""
    return f"{reason[0].upper()}{reason[1:].rstrip('.')}." if reason else ""


def cluster_part(tenant: Tenant, scope: Scope, cluster_id: str) -> Part:
    """One cluster as brokers and agents see it.

    Raises:
        NotFound: when the page is put together, before anything is asked.
    """
    seen_cluster(tenant, scope, cluster_id, with_brokers=False)
    return Part(lambda: cluster_get(tenant, scope, cluster_id), remote=True)


def require_whole_tenant(scope: Scope, what: str) -> None:
    """Raises Unavailable, so that the rest of a page stays: a part says what is missing and why."""
    if not scope.sees_all:
        raise Unavailable(f"{what} are seen with a role on the whole tenant.")


def operations_part(tenant: Tenant, scope: Scope, cluster_id: str | None = None) -> Part:
    return Part(
        lambda: operation_list(tenant, scope, cluster_id=cluster_id, limit=RECENT_OPERATIONS)
    )
