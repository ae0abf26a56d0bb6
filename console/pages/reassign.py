"""What the reassignment wizard chooses from, and what moves already."""

from console.pages.cluster import loads
from console.pages.shared import asked, cluster_part
from console.parts import Part
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Scope
from controlplane.reassignments.progress import active
from controlplane.tenants.models import Tenant
from controlplane.topics.selectors import topic_list


def reassign(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    return {
        "cluster": cluster_part(tenant, scope, cluster_id),
        "topics": asked(row, scope, topic_list),
        "loads": asked(row, scope, loads),
        "reassignments": asked(row, scope, active),
    }
