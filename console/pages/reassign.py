"""What the reassignment wizard chooses from, and what moves already."""

from console.pages.cluster import loads
from console.pages.shared import asked, cluster_part
from console.parts import Part
from controlplane.clusters.selectors import cluster_row
from controlplane.reassignments.progress import active
from controlplane.tenants.models import Tenant
from controlplane.topics.selectors import topic_list


def reassign(tenant: Tenant, cluster_id: str) -> dict[str, Part]:
    row = cluster_row(tenant, cluster_id)
    return {
        "cluster": cluster_part(tenant, cluster_id),
        "topics": asked(row, topic_list),
        "loads": asked(row, loads),
        "reassignments": asked(row, active),
    }
