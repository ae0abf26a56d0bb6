"""How a difference of a topic is mended: back to what was left, or what is there taken over. Pure.

Either way is a plan of its own, which reads the truth once more; here is only what it is asked for.
"""

from typing import Any

from controlplane.observed.drift_sentences import problem_said

PARTITIONS, REPLICATION_FACTOR = "partitions", "replication_factor"
NO_FEWER, BY_REASSIGNMENT = "no-fewer-partitions", "by-reassignment"

_Found = tuple[dict[str, Any] | None, str | None]
"""A way, or the code of why there is none."""


def ways(topic: str, field: str, desired: str | None, observed: str | None) -> dict[str, Any]:
    """{back, adopt}: each {kind, inputs} or null, and `problem_said` of why there is none."""
    back, back_problem = _back(topic, field, desired, observed)
    adopt, adopt_problem = _adopt(topic, field, observed)
    return {
        "back": back,
        **problem_said("back", back_problem),
        "adopt": adopt,
        **problem_said("adopt", adopt_problem),
    }


def _back(topic: str, field: str, desired: str | None, observed: str | None) -> _Found:
    if field == PARTITIONS:
        wanted, have = int(desired or 0), int(observed or 0)
        if wanted < have:
            return None, NO_FEWER
        return _way("topic.partitions", name=topic, partitions=wanted), None
    if field == REPLICATION_FACTOR:
        return _way("reassignment", topics=[topic], replication_factor=int(desired or 0)), None
    return _way("topic.update", name=topic, configs={field: desired}), None


def _adopt(topic: str, field: str, observed: str | None) -> _Found:
    if field == PARTITIONS:
        return _way("topic.partitions", name=topic, partitions=int(observed or 0), adopt=True), None
    if field == REPLICATION_FACTOR:
        return None, BY_REASSIGNMENT
    return _way("topic.update", name=topic, configs={field: observed}, adopt=True), None


def _way(kind: str, **inputs: Any) -> dict[str, Any]:
    return {"kind": kind, "inputs": inputs}
