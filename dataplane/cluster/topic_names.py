"""Which topic names are legal: Kafka's rule (Topic.validate), with its messages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dataplane.model.errors import ErrorCode, KafkaError

NAME_LENGTH_MAX = 249
_LEGAL = re.compile(r"[a-zA-Z0-9._-]+")
OFFSETS_TOPIC = "__consumer_offsets"
TRANSACTIONS_TOPIC = "__transaction_state"
INTERNAL_TOPICS = frozenset({OFFSETS_TOPIC, TRANSACTIONS_TOPIC})


def check_name(name: str) -> None:
    """Raises KafkaError(INVALID_TOPIC_EXCEPTION)."""
    problem = None
    if not name:
        problem = "the empty string is not allowed"
    elif name in {".", ".."}:
        problem = "'.' or '..' is not allowed"
    elif len(name) > NAME_LENGTH_MAX:
        problem = f"the length of '{name}' is longer than the max allowed length {NAME_LENGTH_MAX}"
    elif not _LEGAL.fullmatch(name):
        problem = (
            f"'{name}' contains one or more characters other than ASCII alphanumerics, "
            "'.', '_' and '-'"
        )
    if problem:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}")


def collision_key(name: str) -> str:
    """Names with the same key share metric names, where '.' is spelled '_'."""
    return name.replace(".", "_")


def check_collision(name: str, others: Iterable[str]) -> None:
    """Raises KafkaError(INVALID_TOPIC_EXCEPTION) for `a.b` beside `a_b`.

    `others` are the topics with the same collision key.
    """
    clash = sorted(other for other in others if other != name)
    if clash:
        raise KafkaError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"Topic '{name}' collides with existing topics: {', '.join(clash)}",
        )
