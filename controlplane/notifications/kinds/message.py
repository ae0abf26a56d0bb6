"""What a kind makes of an event: an HTTP request or a mail; and what it makes it from. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from controlplane.notifications.kinds.words import line

USER_AGENT = "Penstock"
DELIVERY_HEADER, ATTEMPT_HEADER = "Penstock-Delivery", "Penstock-Attempt"
JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """Which delivery this is: `attempt` counts from 1, above that it may be there already."""

    delivery_id: str
    attempt: int
    sent_at: datetime

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        return ((DELIVERY_HEADER, self.delivery_id), (ATTEMPT_HEADER, str(self.attempt)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A destination as its renderer needs it; `secrets` are open here, so it is in no `repr`."""

    config: Mapping[str, Any]
    secrets: Mapping[str, Any]

    def __repr__(self) -> str:
        return "Target(…)"


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A POST. The address and headers may hold secrets, so it is in no `repr`."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    ca_pem: str = ""

    def __repr__(self) -> str:
        return f"HttpRequest({len(self.body)} bytes)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One message to all of `to`; `html` is the same as `text`."""

    to: tuple[str, ...]
    subject: str
    text: str
    html: str
    headers: tuple[tuple[str, str], ...]
    message_id: str
    """Of the delivery, so that mail programs know a second copy; without the domain."""
    thread_id: str
    """Of the alert; without the domain."""


Outgoing = HttpRequest | Mail


def json_request(
    url: str,
    content: Any,
    stamp: Stamp,
    target: Target,
    *more: tuple[str, str],
) -> HttpRequest:
    """A POST of JSON, ASCII alone: whatever a name holds, the body is one line of plain letters."""
    body = json.dumps(content, separators=(",", ":"), allow_nan=False).encode("ascii")
    return HttpRequest(
        url=url,
        headers=(("Content-Type", JSON), ("User-Agent", USER_AGENT), *stamp.headers, *more),
        body=body,
        ca_pem=str(target.config.get("ca_pem") or ""),
    )


def title(state: str, severity: str, summary: str, max_chars: int) -> str:
    """`CRITICAL firing: …` in one line."""
    return line(f"{severity.upper()} {state}: {summary}", max_chars)
