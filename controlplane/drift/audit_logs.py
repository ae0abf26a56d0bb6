"""Who changed what, by the audit logs of a cluster's brokers: asked of their hosts, now."""

import re
from typing import Any, Final

from controlplane.clusters.host_answers import ask
from controlplane.clusters.models import MANAGED, Cluster
from controlplane.clusters.questions import ADMINISTERED, Answered, HostQuestion
from controlplane.clusters.reports import text_of, whole_of
from controlplane.clusters.selectors import key_of
from controlplane.clusters.specs import ADMIN_USER, BROKER_USER
from controlplane.common.problems import Problem
from controlplane.drift.who import Change
from controlplane.observed.drift_sentences import unread_said

BROKERS_ASKED_MAX: Final = 16
CHANGES_MAX: Final = 200
"""Of one broker's answer."""
PART_MAX: Final = 600
OWN: Final = frozenset({f"User:{ADMIN_USER}", f"User:{BROKER_USER}"})
"""What they do is in operations of this service, which say for whom."""
_MS_MAX: Final = 1 << 53
_SPACES: Final = re.compile(r"\s+")


def changes_since(cluster: Cluster, since_ms: int) -> tuple[list[Change], dict[str, Any]]:
    """What others changed since then, and why there may be more, as `unread_said` says it."""
    if cluster.kind != MANAGED:
        return [], unread_said("of-others")
    brokers = list(cluster.brokers.all())
    asked = brokers[:BROKERS_ASKED_MAX]
    args = {"changes": CHANGES_MAX, "since_ms": max(since_ms, 0)}
    try:
        answers = ask(cluster, [HostQuestion(key_of(row), ADMINISTERED, args) for row in asked])
    except Problem as problem:
        return [], unread_said("not-read", reason=problem.detail)
    found: list[Change] = []
    unread = [row.broker_id for row in brokers[BROKERS_ASKED_MAX:]]
    for row, answer in zip(asked, answers, strict=True):
        rows = answer.body.get("changes") if isinstance(answer, Answered) else None
        if not isinstance(answer, Answered) or not isinstance(rows, list):
            unread.append(row.broker_id)
            continue
        if answer.body.get("is_whole") is not True or whole_of(answer.body, "left_out"):
            unread.append(row.broker_id)
        changes = (_change(each, row.broker_id) for each in rows[:CHANGES_MAX])
        found += [each for each in changes if each is not None and each.principal not in OWN]
    if not unread:
        return found, unread_said()
    named = ", ".join(map(str, sorted(unread)[:10]))
    return found, unread_said("not-whole", brokers=named)


def _change(row: Any, broker: int) -> Change | None:
    """As far as a host can be believed; None for what is no change."""
    if not isinstance(row, dict):
        return None
    at_ms = whole_of(row, "at_ms")
    if at_ms is None or not 0 <= at_ms < _MS_MAX:
        return None
    texts = {
        name: text_of(row, name)[:PART_MAX]
        for name in ("principal", "host", "operation", "resource", "detail")
    }
    if not texts["principal"]:
        return None
    texts |= {name: _SPACES.sub(" ", texts[name]) for name in ("principal", "host")}
    return Change(at_ms=at_ms, broker=broker, **texts)
