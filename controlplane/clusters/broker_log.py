"""A broker's log as its host's agent reads it for us: page by page, from the end backwards."""

from typing import Any

from controlplane.clusters.brokers import NO_LOG, may_change
from controlplane.clusters.host_answers import ask, asked_broker, known, unreadable
from controlplane.clusters.models import Cluster
from controlplane.clusters.questions import LEVELS, LOG_TAIL, Answered, HostQuestion
from controlplane.clusters.reports import whole_of
from controlplane.clusters.selectors import key_of
from controlplane.common.grants import Scope
from controlplane.common.problems import Forbidden
from controlplane.common.words import storable

LINES_MAX, TEXT_MAX, CURSOR_MAX = 500, 2_000, 41


def broker_log(
    scope: Scope, cluster: Cluster, broker: int, *, lines: int, level: str, before: str | None
) -> dict[str, Any]:
    """{lines: [{text, level, cut}], next, size_bytes, written_at_ms, answered_at_ms}.

    Lines are in their order in the log; `next` is what `before` takes for those before, None at
    the beginning of what the host keeps. There may be a next without any line: of the level nothing
    was found so far.

    Raises:
        Forbidden: log lines are for who may change the cluster, as they may name what others do.
        NotFound: nobody placed such a broker.
        Unavailable: nothing is known, and why.
    """
    if not may_change(scope, cluster):
        raise Forbidden(NO_LOG)
    row = asked_broker(cluster, broker)
    args = {"lines": lines, "level": level or None, "before": before}
    [answer] = ask(cluster, [HostQuestion(key_of(row), LOG_TAIL, args)])
    return _log_of(known(answer))


def _log_of(answer: Answered) -> dict[str, Any]:
    lines = answer.body.get("lines")
    following = answer.body.get("next")
    if not isinstance(lines, list) or not (following is None or _is_cursor(following)):
        raise unreadable()
    return {
        "lines": [_line(each) for each in lines[-LINES_MAX:] if isinstance(each, dict)],
        "next": following,
        "size_bytes": whole_of(answer.body, "size_bytes"),
        "written_at_ms": whole_of(answer.body, "written_at_ms"),
        "answered_at_ms": answer.at_ms,
    }


def _line(row: dict[str, Any]) -> dict[str, Any]:
    text, level = row.get("text"), row.get("level")
    return {
        "text": storable(text)[:TEXT_MAX] if isinstance(text, str) else "",
        "level": level if level in LEVELS else None,
        "cut": row.get("cut") is True,
    }


def _is_cursor(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and 0 < len(value) <= CURSOR_MAX
