"""What the reassignment wizard chooses from, and what moves already."""

from console.pages.cluster import loads
from console.pages.shared import asked, cluster_part, observed_list
from console.parts import Part
from controlplane.clusters.selectors import seen_cluster
from controlplane.common.grants import Scope
from controlplane.observed.sections import TOPICS
from controlplane.reassignments.progress import active
from controlplane.tenants.models import Tenant
from controlplane.topics.selectors import topic_row


def reassign(tenant: Tenant, scope: Scope, cluster_id: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id)
    return {
        "cluster": cluster_part(tenant, scope, cluster_id),
        "topics": observed_list(row, scope, TOPICS, topic_row),
        "loads": loads(row, scope),
        "reassignments": asked(row, scope, active),
    }
