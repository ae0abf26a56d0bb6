"""What is told of self-healing that asks first: that it asks, once a proposal, and how that ended.

A proposal is no alert: it is told under its case's id, so that a receiver which keeps incidents
closes it when somebody has answered. It goes to the tenant, whose word it waits for: no text of it
names a host. The operators, whose host it is and who may approve it as well, are told of the host.
"""

from dataclasses import replace
from typing import Final
from urllib.parse import quote

from django.conf import settings

from controlplane.healing.models import HealingCase
from controlplane.healing.states import DISMISSED, PROPOSED, REPLACING, WAITING, WITHDRAWN
from controlplane.notifications.events import FIRING, RESOLVED, WARNING, AlertEvent
from controlplane.notifications.models import Delivery, Owner, owned
from controlplane.notifications.services import publish

RULE: Final = "healing-proposed"
"""As destinations name it that want to be told of some rules alone."""
_ENDED: Final = {
    REPLACING: "It was approved: the broker is being put on another host.",
    DISMISSED: "Somebody said no: while this silence lasts the broker stays where it is.",
    WITHDRAWN: "It is not needed any more.",
}
_MEANS: Final = (
    "Until somebody approves it nothing is done by itself.",
    (
        "Approving puts the broker on another host that the platform chooses: it begins there with"
        " an empty directory under its id and reads all its replicas anew from the others, while"
        " clients go on. The plan says how much that is, and is refused while a partition has no"
        " other replica in sync. It can be cancelled until every replica is in sync; what it left"
        " is wiped then."
    ),
    "Saying no leaves the broker where it is while this silence of its host lasts.",
)


def tell_of_proposal(case: HealingCase, before: str) -> None:
    """In the transaction of the case's move, `before` being the state that it was in.

    One that waits once more and is proposed again is the same proposal. That it ended hears
    whoever was told that it is there.
    """
    for owner, event_of in ((case.cluster.tenant, _event), (None, _operators_event)):
        if case.state == PROPOSED:
            publish(event_of(case, FIRING))
        elif case.state in _ENDED and before in (PROPOSED, WAITING) and _was_told(case, owner):
            publish(event_of(case, RESOLVED))


def _was_told(case: HealingCase, owner: Owner) -> bool:
    rows = Delivery.objects.filter(owned(owner))
    return rows.filter(alert_id=case.id, event_state=FIRING).exists()


def _operators_event(case: HealingCase, state: str) -> AlertEvent:
    """The same for operators: of the host, and where its page is."""
    event, base = _event(case, state), settings.PUBLIC_URL.rstrip("/")
    where = f"broker {case.broker_id} of {case.cluster.name}"
    opening = f"Tenant {case.cluster.tenant.slug}, cluster {case.cluster.id}."
    return replace(
        event,
        tenant_id=None,
        # Operators' destinations name no clusters.
        cluster_id=None,
        summary=f"{case.host_id}: shall {where} be put on another host?",
        description=f"{opening}\n{event.description}",
        labels={**event.labels, "host": case.host_id, "tenant": case.cluster.tenant.slug},
        console_url=f"{base}/platform/hosts/{quote(case.host_id, safe='')}",
    )


def _event(case: HealingCase, state: str) -> AlertEvent:
    cluster, base = case.cluster, settings.PUBLIC_URL.rstrip("/")
    is_open = state == FIRING
    return AlertEvent(
        event_id=f"{case.id}-{state}",
        alert_id=case.id,
        tenant_id=cluster.tenant_id,
        cluster_id=cluster.id,
        cluster_name=cluster.name,
        rule=RULE,
        severity=WARNING,
        state=state,
        summary=f"{cluster.name}: shall broker {case.broker_id} be put on another host?",
        description="\n".join((case.text, *_MEANS) if is_open else (_ENDED[case.state],)),
        labels={
            "alertname": RULE,
            "severity": WARNING,
            "cluster": cluster.name,
            "broker": str(case.broker_id),
        },
        values={},
        runbook="",
        runbook_url="",
        console_url=f"{base}/clusters/{cluster.id}",
        started_at=case.created_at,
        occurred_at=case.moved_at,
        resolved_at=None if is_open else case.moved_at,
    )
