"""Why the next broker or cluster is not begun yet: sentences by their codes, one after the other.
Pure.

What comes from elsewhere (a plan that is refused, an operation that failed) stays as it came.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Protocol

from controlplane.common.said import Said, said_of
from controlplane.common.sentences import Param
from controlplane.common.words import storable

TEXT_MAX = 1_000
"""Of all sentences together."""
SAID_MAX = 700
"""Of what came from elsewhere, so that what leads in is within the text too."""
ABOUT_MAX = 200
AS_IT_CAME = "as-it-came"

WAITING: Final[Mapping[str, str]] = {
    "lead/about": "{about}:",
    AS_IT_CAME: "{said}",
    "not-understood": "What is in the way is not understood; it is tried again.",
    "host-of-broker/away": "The host of broker {broker} is away.",
    "operation-ended": ("{state:failed=failed|cancelled=cancelled|reverted=undone|other=#}"),
    "stopped": "{by} stopped it.",
    "agent-away/address": "The host's agent is away: where it serves is not known.",
    "agent-away/zookeeper": "The host's agent is away: which connect string it uses is not known.",
    "serves-elsewhere": (
        "The host's agent serves at {serves}: start it with --address {address} first."
    ),
    "other-connect-string": (
        "The host's agent uses another connect string: start it with --zookeeper first."
    ),
}
"""What begins with `lead/` leads in the next one: of which broker or cluster it is said."""


def waiting_of(sentence: str, **params: Param) -> Said:
    """Raises as `said_of`."""
    return said_of(WAITING, sentence, **params)


def as_it_came(text: str) -> Said:
    """A sentence of a broker, of another operation or of a plan that was refused."""
    return waiting_of(AS_IT_CAME, said=storable(text)[:SAID_MAX])


def led_in(about: str, said: Said) -> list[Said]:
    """Of which broker, or of which cluster's, it is said."""
    return [waiting_of("lead/about", about=storable(about)[:ABOUT_MAX]), said]


def after_ended(about: str, state: str, error: Mapping[str, Any] | None) -> list[Said]:
    """Of an operation that has ended without success: with what, or in which state."""
    detail = (error or {}).get("detail")
    return led_in(
        about, as_it_came(detail) if detail else waiting_of("operation-ended", state=state)
    )


class Waits(Protocol):
    """A row that keeps why it waits."""

    waiting_for: str
    waiting_for_parts: list[dict[str, Any]]


def joined(parts: Iterable[Said]) -> dict[str, Any]:
    """{waiting_for, waiting_for_parts} as a row keeps them."""
    rows = [part.as_row() for part in parts]
    return {"waiting_for": _joined(rows), "waiting_for_parts": rows}


def keep(row: Waits, parts: Iterable[Said] = ()) -> None:
    """Note on the row what is in the way; without parts nothing is. Nothing is written."""
    for name, value in joined(parts).items():
        setattr(row, name, value)


def kept(row: Waits) -> dict[str, Any]:
    """{waiting_for, waiting_for_parts} as REST says them.

    Parts that say something else than the text are of before: an earlier version, which a release
    replaces meanwhile, writes the text alone.
    """
    is_same = _joined(row.waiting_for_parts) == row.waiting_for
    return {
        "waiting_for": row.waiting_for or None,
        "waiting_for_parts": row.waiting_for_parts if is_same else [],
    }


def _joined(rows: Iterable[Mapping[str, Any]]) -> str:
    return " ".join(row["text"] for row in rows)[:TEXT_MAX]
