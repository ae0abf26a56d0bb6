"""What agents are asked about brokers, and their answers as far as they can be believed. Pure.

The other side is `dataplane/agent/questions.py`: planes share no code, and a test holds both to one
form.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from controlplane.clusters.reports import object_of, text_of, whole_of
from controlplane.common.times import iso_of_ms

FORMAT: Final = 1
LOG_TAIL: Final = "log-tail"
DENIALS: Final = "denials"
ADMINISTERED: Final = "administered"
SEGMENTS: Final = "segments"
LEVELS: Final = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
DENIED_EVENTS: Final = ("denied", "login-failed", "handshake-failed")
ANSWER_BYTES_MAX: Final = 256 << 10
"""Of an answer's node; ZooKeeper takes four times as much."""
OPEN_MAX: Final = 32
"""Questions that are open at one host at a time, of all processes together."""
WHY_MAX: Final = 300

# Hosts are the operators' own: whose broker is asked about is not told what its host is called.
SILENT: Final = "Unknown: the agent of this broker's host does not answer."
AWAY: Final = "Unknown: the agent of this broker's host is not alive."
TOO_OLD: Final = (
    "Unknown: the agent of this broker's host does not answer this; it is of an earlier version"
    " ({version})."
)
TOO_MANY: Final = (
    "Unknown: too many questions are open at this broker's host. Ask again in a moment."
)
UNREADABLE: Final = "Unknown: the answer of the agent of this broker's host cannot be understood."


@dataclass(frozen=True, slots=True)
class HostQuestion:
    """`broker` is (host_id, broker_key); `args` are those of the kind, checked by the agent too."""

    broker: tuple[str, str]
    kind: str
    args: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answered:
    """`body` is of a host that nobody has to believe; `at_ms` by the host's clock."""

    body: dict[str, Any]
    at_ms: int | None


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Nothing is known; `why` in a sentence.

    Attributes:
        is_refusal: the agent has said so itself.
        heard_at_ms: when a silent host was last heard of, by ZooKeeper's clock; None: not known.
    """

    why: str
    is_refusal: bool = False
    heard_at_ms: int | None = None


HostAnswer = Answered | Unanswered


def encode(question: HostQuestion, *, wait_ms: int) -> bytes:
    row = {
        "v": FORMAT,
        "kind": question.kind,
        "broker": question.broker[1],
        "wait_ms": wait_ms,
        "args": question.args,
    }
    return json.dumps(row, sort_keys=True).encode()


def silent(why: str, heard_at_ms: int | None) -> Unanswered:
    """Of a host that says nothing, with since when that is so as far as it is known."""
    if heard_at_ms is None:
        return Unanswered(why)
    text = f"{why} It was last heard of at {iso_of_ms(heard_at_ms)}."
    return Unanswered(text, heard_at_ms=heard_at_ms)


def answer_of(data: bytes) -> HostAnswer:
    """Whatever the host may have written."""
    row = object_of(data) if len(data) <= ANSWER_BYTES_MAX else None
    if row is None or row.get("v") != FORMAT:
        return Unanswered(UNREADABLE)
    refused = text_of(row, "refused")[:WHY_MAX]
    if refused:
        return Unanswered(f"The agent of this broker's host says: {refused}.", is_refusal=True)
    body = row.get("answer")
    if not isinstance(body, dict):
        return Unanswered(UNREADABLE)
    return Answered(body, whole_of(row, "at_ms"))
