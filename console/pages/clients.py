"""Who reads a topic, who writes to it, and whom rules let."""

from typing import Any

from console.pages.shared import asked, observed
from console.parts import Part
from console.sources import OfSections
from controlplane.access.selectors import rules_about_topic
from controlplane.clusters.selectors import reader_of, seen_cluster
from controlplane.common.grants import Scope
from controlplane.common.problems import Forbidden, NotFound, Problem, Unavailable
from controlplane.groups.readers import topic_readers
from controlplane.observed.readers import Reader
from controlplane.observed.sections import ACLS, GROUPS, TOPICS
from controlplane.observed.services import observed_row
from controlplane.tenants.models import Tenant
from controlplane.topics.producers import first_producers

CLIENTS_SOURCES = OfSections(readers=GROUPS, rules=ACLS, also=(TOPICS,))


def clients(tenant: Tenant, scope: Scope, cluster_id: str, name: str) -> dict[str, Part]:
    row = seen_cluster(tenant, scope, cluster_id, with_brokers=False)
    reader = reader_of(row, scope)
    if not _is_there(reader, name):
        raise NotFound(f"There is no topic {name}.")
    readers = observed(row, scope, GROUPS, lambda at: topic_readers(reader, at, name))
    try:
        rules = observed(row, scope, ACLS, lambda at: rules_about_topic(reader, at, name))
    except Forbidden as refusal:
        rules = Part(_refused(refusal.detail))
    return {"readers": readers, "rules": rules}


def producers(tenant: Tenant, scope: Scope, cluster_id: str, name: str) -> dict[str, Part]:
    """A page of its own: it asks every leader, and what is observed does not wait for that."""
    row = seen_cluster(tenant, scope, cluster_id)
    return {"producers": asked(row, scope, lambda *_: first_producers(row, scope, name))}


def _is_there(reader: Reader, name: str) -> bool:
    """Whether the topic is seen; where nothing is known of topics the parts say why."""
    try:
        return observed_row(reader, TOPICS, name) is not None
    except Problem:
        return True


def _refused(detail: str) -> Any:
    """A part that says why it is not for this person, so that the rest of the page stays."""

    def read() -> Any:
        raise Unavailable(detail)

    return read
