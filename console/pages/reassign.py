"""What the reassignment wizard chooses from, and what moves already."""

from console.pages.cluster import loads, moving
from console.pages.shared import cluster_part, counts_of, observed
from console.parts import Part
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Scope
from controlplane.observed.listings import Wanted
from controlplane.observed.sections import TOPICS
from controlplane.tenants.models import Tenant
from controlplane.topics.selectors import INTERNAL, topics_listed


def reassign(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    everything = Wanted(filters=frozenset({INTERNAL}), size=1)
    return {
        "cluster": cluster_part(tenant, scope, cluster_id),
        # Topics are searched for as they are typed (`/api/v1/…/topics?q=`); this is of them all.
        "counts": observed(
            row,
            scope,
            TOPICS,
            lambda _at: counts_of(topics_listed(reader_of(row, scope), everything), everything),
        ),
        "loads": loads(row, scope),
        "reassignments": moving(row, scope),
    }
