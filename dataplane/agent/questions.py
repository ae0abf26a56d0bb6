"""What the control plane may ask an agent about one of its brokers, and the form of the answers.

A question is a node under `asked`, which the host only reads; its answer is written into a node of
the same name under `answered`, which the asker has made and waits at. Both are ephemeral nodes of
the asker's session, who removes them: nothing is left of an asker that ends, and an agent that is
late finds no place for its answer. Pure.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import re
from typing import Any, Final

from dataplane.agent.spec import FORMAT, host_path

QUESTION_BYTES_MAX: Final = 4_096
ANSWER_BYTES_MAX: Final = 256 << 10
"""Of an answer's node: a quarter of what ZooKeeper takes."""
OPEN_MAX: Final = 32
"""Questions of one host that an agent looks at; others wait until some of these are gone."""
WAIT_MS_MAX: Final = 10_000
WHY_MAX: Final = 300
LINES_MAX: Final = 500
ATTEMPTS_MAX: Final = 150
CHANGES_MAX: Final = 200
SEGMENTS_MAX: Final = 500
PARTITION_MAX: Final = 2**31 - 1
OFFSET_MAX: Final = 2**63 - 1

_CURSOR: Final = re.compile(r"[0-9]{1,20}:[0-9]{1,20}")
_TOPIC: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")
LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


class Kind(enum.Enum):
    """All that is answered. Nothing else of a host can be asked for."""

    LOG_TAIL = "log-tail"
    DENIALS = "denials"
    ADMINISTERED = "administered"
    SEGMENTS = "segments"


class QuestionError(ValueError):
    """It cannot be answered; the message says why, to whoever asked."""


@dataclasses.dataclass(frozen=True, slots=True)
class LogQuery:
    """The last `lines` of a broker's log that are of `level` or above, before a cursor."""

    lines: int
    level: str | None = None
    before: str | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class DenialsQuery:
    """The newest so many different attempts of a broker's audit log."""

    attempts: int


@dataclasses.dataclass(frozen=True, slots=True)
class AdministeredQuery:
    """The newest so many changes that a broker's audit log says were made since a moment."""

    changes: int
    since_ms: int


@dataclasses.dataclass(frozen=True, slots=True)
class SegmentsQuery:
    """The newest `segments` of a partition that begin before an offset."""

    topic: str
    partition: int
    segments: int
    before: int | None = None


Query = LogQuery | DenialsQuery | AdministeredQuery | SegmentsQuery


@dataclasses.dataclass(frozen=True, slots=True)
class Question:
    """`broker` is the key of a desired broker; `wait_ms` how long its asker waits."""

    broker: str
    wait_ms: int
    query: Query


def asked_path(host_id: str, question: str = "") -> str:
    return f"{host_path(host_id)}/asked" + (f"/{question}" if question else "")


def answered_path(host_id: str, question: str = "") -> str:
    return f"{host_path(host_id)}/answered" + (f"/{question}" if question else "")


def decode_question(data: bytes) -> Question:
    """Anything may stand in the node. Raises QuestionError."""
    if len(data) > QUESTION_BYTES_MAX:
        raise QuestionError("the question is too long")
    try:
        row = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise QuestionError("the question is not JSON") from error
    if not isinstance(row, dict) or row.get("v") != FORMAT:
        raise QuestionError("the question is of a form that this agent does not know")
    broker, args = row.get("broker"), row.get("args")
    if not isinstance(broker, str) or not isinstance(args, dict):
        raise QuestionError("the question names no broker, or has no arguments")
    return Question(broker, _whole(row, "wait_ms", 1, WAIT_MS_MAX), _query(row.get("kind"), args))


def _query(kind: object, args: dict[str, Any]) -> Query:
    if kind == Kind.LOG_TAIL.value:
        return LogQuery(
            lines=_whole(args, "lines", 1, LINES_MAX),
            level=_one_of(args, "level", LEVELS),
            before=_matching(args, "before", _CURSOR),
        )
    if kind == Kind.DENIALS.value:
        return DenialsQuery(_whole(args, "attempts", 1, ATTEMPTS_MAX))
    if kind == Kind.ADMINISTERED.value:
        return AdministeredQuery(
            changes=_whole(args, "changes", 1, CHANGES_MAX),
            since_ms=_whole(args, "since_ms", 0, OFFSET_MAX),
        )
    if kind == Kind.SEGMENTS.value:
        topic = _matching(args, "topic", _TOPIC)
        if topic is None or topic in (".", ".."):
            raise QuestionError("topic cannot be that")
        has_before = args.get("before") is not None
        return SegmentsQuery(
            topic=topic,
            partition=_whole(args, "partition", 0, PARTITION_MAX),
            segments=_whole(args, "segments", 1, SEGMENTS_MAX),
            before=_whole(args, "before", 0, OFFSET_MAX) if has_before else None,
        )
    raise QuestionError("this agent does not answer such a question")


def encode_answer(body: dict[str, Any], *, at_ms: int) -> bytes:
    """What is known, as of `at_ms`; of bounded size."""
    data = _encoded({"v": FORMAT, "at_ms": at_ms, "answer": body})
    if len(data) > ANSWER_BYTES_MAX:
        return encode_refusal("the answer is too long", at_ms=at_ms)
    return data


def encode_refusal(why: str, *, at_ms: int) -> bytes:
    """Nothing is known, and why."""
    return _encoded({"v": FORMAT, "at_ms": at_ms, "refused": why[:WHY_MAX]})


def _encoded(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def _whole(row: dict[str, Any], name: str, low: int, high: int) -> int:
    value = row.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise QuestionError(f"{name} is a number from {low} to {high}")
    return value


def _one_of(row: dict[str, Any], name: str, known: tuple[str, ...]) -> str | None:
    value = row.get(name)
    if value is not None and value not in known:
        raise QuestionError(f"{name} is one of {', '.join(known)}")
    return value


def _matching(row: dict[str, Any], name: str, pattern: re.Pattern[str]) -> str | None:
    value = row.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise QuestionError(f"{name} cannot be that")
    return value
