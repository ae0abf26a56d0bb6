"""Topics that the cluster or the service keeps for itself, and what may be done to them. Pure."""

from collections.abc import Mapping

from controlplane.common.problems import Conflict, field_problem
from controlplane.gateway.types import INTERNAL_TOPICS

OWN_PREFIX = "__penstock"


def is_internal(name: str, *, flagged: bool = False) -> bool:
    """`flagged`: what the brokers themselves say."""
    return flagged or name in INTERNAL_TOPICS or name.startswith(OWN_PREFIX)


def refuse_internal(name: str, deed: str, *, flagged: bool) -> None:
    """Raises Conflict `internal-topic`."""
    if is_internal(name, flagged=flagged):
        raise Conflict(f"{name} is internal to the cluster: {deed}.", code="internal-topic")


def refuse_reserved(name: str) -> None:
    if is_internal(name):
        raise field_problem(
            "/inputs/name", f"{name} is a name that the cluster keeps for itself.", "reserved"
        )


def is_dangerous(
    changes: Mapping[str, str | None],
    effective_after: Mapping[str, str | None],
    warnings: list[dict[str, str]],
) -> bool:
    """Whether an update could lose what an internal topic holds.

    Such topics are compacted: every other cleanup policy lets records go by their age,
    and putting compaction back is a repair.
    """
    if "cleanup.policy" in changes and effective_after.get("cleanup.policy") != "compact":
        return True
    return any(
        row["severity"] == "danger" and row["code"] != "delete-to-compact" for row in warnings
    )
