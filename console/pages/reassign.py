"""What the reassignment wizard chooses from, and what moves already."""

from console.pages.cluster import loads
from console.pages.shared import asked, cluster_part
from console.pages.topics import topic_list
from console.parts import Part
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Scope
from controlplane.reassignments.progress import active
from controlplane.tenants.models import Tenant


def reassign(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    return {
        "cluster": cluster_part(tenant, scope, cluster_id),
        "topics": topic_list(row, scope),
        "loads": loads(row, scope),
        "reassignments": asked(row, scope, active),
    }
