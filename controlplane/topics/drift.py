"""Drift: where a topic is not as the last verified operation on it left it. Pure.

What no operation has set has no desired value, and so no drift.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from controlplane.gateway.types import SET_ON_TOPIC
from controlplane.observed.drift_sentences import difference_said
from controlplane.topics.mending import ways

COUNTED = ("partitions", "replication_factor")
"""What is compared beside settings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """An operation that succeeded, whether or not it was undone later: undoing is one, too."""

    id: str
    kind: str
    inputs: Mapping[str, Any]


@dataclass(slots=True, kw_only=True)
class Desired:
    """What operations have left of a topic; what none has set is not in it.

    Attributes:
        configs: by key; null: the topic is to set nothing itself.
        set_by: the operation that set a field last.
    """

    partitions: int | None = None
    replication_factor: int | None = None
    configs: dict[str, str | None] = field(default_factory=dict)
    set_by: dict[str, str] = field(default_factory=dict)


def desired_topics(operations: Iterable[Verified]) -> dict[str, Desired]:
    """By topic, of operations on topics and of reassignments, oldest first."""
    found: dict[str, Desired] = {}
    for operation in operations:
        if operation.kind == "reassignment":
            # It may have changed how many replicas there are: nothing is claimed from here on.
            for topic in found.values():
                topic.replication_factor = None
            continue
        inputs = operation.inputs
        name = inputs["name"]
        if operation.kind == "topic.delete":
            found.pop(name, None)
        elif operation.kind == "topic.create":
            found[name] = Desired(
                partitions=inputs["partitions"],
                replication_factor=inputs["replication_factor"],
                configs=dict(inputs.get("configs", {})),
                set_by=dict.fromkeys(
                    ("partitions", "replication_factor", *inputs.get("configs", {})), operation.id
                ),
            )
        elif operation.kind == "topic.partitions":
            topic = found.setdefault(name, Desired())
            topic.partitions = inputs["partitions"]
            topic.set_by["partitions"] = operation.id
        elif operation.kind == "topic.update":
            topic = found.setdefault(name, Desired())
            topic.configs |= inputs["configs"]
            topic.set_by |= dict.fromkeys(inputs["configs"], operation.id)
    return found


class Difference(NamedTuple):
    """`observed` and `desired` as texts; null: not set."""

    field: str
    desired: str | None
    observed: str | None


def differences(
    desired: Desired, row: Mapping[str, Any], configs: Sequence[Mapping[str, Any]] | None
) -> Iterator[Difference]:
    """Where a topic is not as it was left; of `row`, `partitions` and `replication_factor`.

    `configs` are what the topic sets itself, as far as it differs from its cluster; None: unknown.
    """
    for name in COUNTED:
        wanted = getattr(desired, name)
        if wanted is not None and wanted != row[name]:
            yield Difference(name, str(wanted), str(row[name]))
    if configs is None:
        return
    own = {entry["name"]: entry["value"] for entry in configs if entry["source"] in SET_ON_TOPIC}
    for name, value in sorted(desired.configs.items()):
        if own.get(name) != value:
            yield Difference(name, value, own.get(name))


def drift_said(topic: str, desired: Desired, found: Difference) -> dict[str, Any]:
    """{field, desired, observed, operation_id, text, text_code, params} and the `mending.ways`."""
    name, wanted, observed = found
    return {
        "field": name,
        "desired": wanted,
        "observed": observed,
        "operation_id": desired.set_by[name],
        **difference_said("topic", field=name, observed=observed, desired=wanted),
        **ways(topic, name, wanted, observed),
    }
