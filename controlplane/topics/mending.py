"""How a difference of a topic is mended: back to what was left, or what is there taken over. Pure.

Either way is a plan of its own, which reads the truth once more; here is only what it is asked for.
"""

from typing import Any

PARTITIONS, REPLICATION_FACTOR = "partitions", "replication_factor"
NO_FEWER = "Partitions can be added, never removed."
BY_REASSIGNMENT = "How many replicas there are is for the next reassignment to say."


def ways(topic: str, field: str, desired: str | None, observed: str | None) -> dict[str, Any]:
    """{back, back_problem, adopt, adopt_problem}; a way is {kind, inputs} or null.

    `back_problem` says why there is no way back, `adopt_problem` why nothing can be taken over.
    """
    back, back_problem = _back(topic, field, desired, observed)
    adopt, adopt_problem = _adopt(topic, field, observed)
    return {
        "back": back,
        "back_problem": back_problem,
        "adopt": adopt,
        "adopt_problem": adopt_problem,
    }


def _back(
    topic: str, field: str, desired: str | None, observed: str | None
) -> tuple[dict[str, Any] | None, str]:
    if field == PARTITIONS:
        wanted, have = int(desired or 0), int(observed or 0)
        if wanted < have:
            return None, NO_FEWER
        return _way("topic.partitions", name=topic, partitions=wanted), ""
    if field == REPLICATION_FACTOR:
        return _way("reassignment", topics=[topic], replication_factor=int(desired or 0)), ""
    return _way("topic.update", name=topic, configs={field: desired}), ""


def _adopt(topic: str, field: str, observed: str | None) -> tuple[dict[str, Any] | None, str]:
    if field == PARTITIONS:
        return _way("topic.partitions", name=topic, partitions=int(observed or 0), adopt=True), ""
    if field == REPLICATION_FACTOR:
        return None, BY_REASSIGNMENT
    return _way("topic.update", name=topic, configs={field: observed}, adopt=True), ""


def _way(kind: str, **inputs: Any) -> dict[str, Any]:
    return {"kind": kind, "inputs": inputs}
