"""Plans that take over what the brokers have: the way to mend drift that changes nothing there.

What is desired of a topic is what verified operations left, so an adoption is one of them. Its
plan shows the same values before and after, and is refused where the brokers have others.
"""

from collections.abc import Mapping

from controlplane.common.problems import Conflict
from controlplane.common.words import counted
from controlplane.gateway.types import TopicDescription
from controlplane.operations.details import detail_of
from controlplane.operations.operations import PlanDraft
from controlplane.operations.summaries import summary_of
from controlplane.operations.warnings import warning_of

UNCHANGED = detail_of("adopted/unchanged")
CODE = "not-as-observed"


def settings_draft(
    topic: TopicDescription,
    given: Mapping[str, str | None],
    own: Mapping[str, str | None],
    effective: Mapping[str, str | None],
) -> PlanDraft:
    """Of settings; `own` are those that the topic sets itself.

    Raises:
        Conflict: some setting is another at the brokers.
    """
    other = sorted(key for key, value in given.items() if own.get(key) != value)
    if other:
        raise Conflict(
            f"{other[0]} of {topic.name} is {own.get(other[0]) or 'not set'} at the brokers.",
            code=CODE,
        )
    return PlanDraft(
        resource=f"topic/{topic.name}",
        diff={
            "before": {"configs": dict(given)},
            "after": {"configs": dict(given)},
            "effective_before": {key: effective.get(key) for key in given},
            "effective_after": {key: effective.get(key) for key in given},
        },
        summary=summary_of("topic.update/adopted", settings=len(given), topic=topic.name),
        preconditions={"configs": dict(given), "topic_id": topic.topic_id},
        warnings=[_said()],
    )


def partitions_draft(topic: TopicDescription, given: int) -> PlanDraft:
    """Of the number of partitions. Raises Conflict as `settings_draft` does."""
    have = len(topic.partitions)
    if given != have:
        raise Conflict(f"{topic.name} has {counted(have, 'partition')}.", code=CODE)
    return PlanDraft(
        resource=f"topic/{topic.name}",
        diff={"before": {"partitions": have}, "after": {"partitions": have}},
        summary=summary_of("topic.partitions/adopted", topic=topic.name, partitions=have),
        preconditions={"partitions": have, "topic_id": topic.topic_id},
        warnings=[_said()],
    )


def _said() -> dict[str, str]:
    return warning_of("adopts", "info")
