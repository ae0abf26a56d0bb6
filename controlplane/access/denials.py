"""Attempts that brokers denied, as their audit logs have them: asked of every broker's host now."""

import re
from typing import Any

from controlplane.clusters.host_answers import ask, known, own_brokers
from controlplane.clusters.models import Broker, Cluster
from controlplane.clusters.questions import (
    DENIALS,
    DENIED_EVENTS,
    UNREADABLE,
    Answered,
    HostAnswer,
    HostQuestion,
    Unanswered,
)
from controlplane.clusters.reports import text_of, whole_of
from controlplane.clusters.selectors import key_of
from controlplane.common.grants import Area, Scope
from controlplane.common.problems import Forbidden, Unavailable

ATTEMPTS_MAX, PART_MAX = 150, 260
"""Of one broker's answer."""
BROKERS_ASKED_MAX = 16
NEEDS_WHOLE = "Denied attempts are seen with a role on the whole cluster."
NOT_ASKED = f"Not asked: at most {BROKERS_ASKED_MAX} brokers are asked at a time."
_RESOURCE = re.compile(r"([A-Z_]{1,30}):(?:LITERAL|PREFIXED):(.*)", re.DOTALL)


def denied_attempts(scope: Scope, cluster: Cluster) -> dict[str, Any]:
    """{attempts, brokers}: of all brokers together, the newest first.

    An attempt is {event, principal, operation, resource_type, resource_name, host, api, count,
    first_ms, last_ms, brokers}; `resource_type` is None where it is none of Kafka's. Of a broker:
    {id, since_ms, is_whole, held_back, left_out, unknown_because}.

    Raises:
        Forbidden: they name principals and resources of the whole cluster.
        Unavailable: of no broker anything is known, and why.
    """
    if not scope.sees(Area.ACCESS, cluster.name):
        raise Forbidden(NEEDS_WHOLE)
    brokers = own_brokers(cluster)
    if not brokers:
        raise Unavailable("The cluster has no brokers yet.")
    asked = brokers[:BROKERS_ASKED_MAX]
    args = {"attempts": ATTEMPTS_MAX}
    answers = ask(cluster, [HostQuestion(key_of(row), DENIALS, args) for row in asked])
    read = [_read(answer) for answer in answers]
    told = [found for found in read if isinstance(found, Answered)]
    if not told:
        known(read[0])
    return {
        "attempts": _merged(asked, read),
        "brokers": [
            *(_broker(row, found) for row, found in zip(asked, read, strict=True)),
            *(_broker(row, Unanswered(NOT_ASKED)) for row in brokers[BROKERS_ASKED_MAX:]),
        ],
    }


def _read(answer: HostAnswer) -> HostAnswer:
    """What cannot be understood is not known."""
    if isinstance(answer, Answered) and not isinstance(answer.body.get("attempts"), list):
        return Unanswered(UNREADABLE)
    return answer


def _broker(row: Broker, found: HostAnswer) -> dict[str, Any]:
    body = found.body if isinstance(found, Answered) else {}
    return {
        "id": row.broker_id,
        "since_ms": whole_of(body, "since_ms"),
        "is_whole": body.get("is_whole") is True,
        "held_back": whole_of(body, "held_back"),
        "left_out": whole_of(body, "left_out"),
        "unknown_because": found.why if isinstance(found, Unanswered) else None,
    }


def _merged(brokers: list[Broker], read: list[HostAnswer]) -> list[dict[str, Any]]:
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for row, answer in zip(brokers, read, strict=True):
        if isinstance(answer, Unanswered):
            continue
        for each in answer.body["attempts"][:ATTEMPTS_MAX]:
            attempt = _attempt(each)
            if attempt is None:
                continue
            key = tuple(
                str(attempt[name])
                for name in ("event", "principal", "operation", "resource", "host")
            )
            same = found.setdefault(key, {**attempt, "count": 0, "brokers": []})
            same["count"] += attempt["count"]
            same["first_ms"] = min(same["first_ms"], attempt["first_ms"])
            same["last_ms"] = max(same["last_ms"], attempt["last_ms"])
            same["brokers"].append(row.broker_id)
    rows = sorted(found.values(), key=lambda each: -each["last_ms"])
    return [{name: each[name] for name in each if name != "resource"} for each in rows]


def _attempt(row: Any) -> dict[str, Any] | None:
    """As far as a host can be believed; None for what is no attempt."""
    if not isinstance(row, dict) or row.get("event") not in DENIED_EVENTS:
        return None
    numbers = {name: whole_of(row, name) for name in ("count", "first_ms", "last_ms")}
    if any(value is None or not 0 <= value < 1 << 53 for value in numbers.values()):
        return None
    texts = {
        name: text_of(row, name)[:PART_MAX]
        for name in ("principal", "operation", "resource", "host", "api")
    }
    named = _RESOURCE.fullmatch(texts["resource"])
    return {
        "event": row["event"],
        **texts,
        **numbers,
        "resource_type": named[1] if named else None,
        "resource_name": named[2] if named else texts["resource"],
    }
