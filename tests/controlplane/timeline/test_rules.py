"""Sentences of events, and what is kept of a reading: pure."""

import pytest

from controlplane.common.grants import Area
from controlplane.observed.changes import CHANGES_A_KIND, Change, Changes, Kind, Of
from controlplane.timeline import rules


def say(kind, subject, before=None, after=None, count=1):
    return rules.text_of(kind, subject, before or {}, after or {}, count)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (say("broker-down", "broker/2"), "Broker 2 left the cluster."),
        (say("broker-up", "broker/2"), "Broker 2 came into the cluster."),
        (say("cluster-unreachable", ""), "The cluster did not answer any more."),
        (say("cluster-answers", ""), "The cluster answers again."),
        (
            say("controller-changed", "", {"controller": 1}, {"controller": 2}),
            "Broker 2 became controller; it was broker 1.",
        ),
        (
            say("controller-changed", "", {"controller": None}, {"controller": 2}),
            "Broker 2 became controller.",
        ),
        (
            say("controller-changed", "", {"controller": 1}, {"controller": None}),
            "No broker is controller; it was broker 1.",
        ),
        (
            say("leader-changed", "topic/a/b", {"0": 1}, {"0": 2}),
            "Topic a/b: leader changed on partition 0 (1 → 2).",
        ),
        (
            say("partitions-offline", "topic/t", {"0": 1, "3": 2}, {"0": None, "3": None}, 2),
            "Topic t: no leader any more on partitions 0 (1 → none), 3 (2 → none).",
        ),
        (
            say("isr-shrunk", "topic/t", {"0": [1, 2, 3]}, {"0": [1, 3]}),
            "Topic t: broker 2 left the in-sync replicas of 1 partition.",
        ),
        (
            say("isr-grew", "topic/t", {"0": [1], "1": [3]}, {"0": [3, 2, 1], "1": [1, 2, 3]}, 2),
            "Topic t: in-sync replicas grew on partitions 0 (1 → 3, 2, 1), 1 (3 → 1, 2, 3).",
        ),
        (
            say("isr-grew", "topic/t", {"0": [1], "1": [1]}, {"0": [1, 2, 3], "1": [3, 2, 1]}, 2),
            "Topic t: brokers 2, 3 came into the in-sync replicas of 2 partitions.",
        ),
        (
            say("isr-shrunk", "topic/t", {"0": [1, 2]}, {"0": [1]}, 90),
            "Topic t: in-sync replicas shrank on partitions 0 (1, 2 → 1) and 89 more.",
        ),
        (
            say("config-changed", "topic/t", {"retention.ms": None}, {"retention.ms": "5"}),
            "Configuration of topic t changed: retention.ms not set → 5.",
        ),
        (
            say("topic-created", "topic/t", {}, {"partitions": 1, "replication_factor": 3}),
            "Topic t was created: 1 partition, replication factor 3.",
        ),
        (say("topic-deleted", "topic/t", {"partitions": 6}), "Topic t was deleted: 6 partitions."),
        (
            say("partitions-added", "topic/t", {"partitions": 1}, {"partitions": 3}, 2),
            "Topic t got 2 partitions, now 3.",
        ),
    ],
)
def test_each_event_is_one_plain_sentence(said, text):
    assert said == text


def test_of_many_partitions_a_few_are_said_and_the_rest_counted():
    before, after = {str(n): 1 for n in range(20)}, {str(n): 2 for n in range(20)}
    assert say("leader-changed", "topic/t", before, after, 90).endswith(
        "3 (1 → 2), 4 (1 → 2) and 85 more."
    )


def test_every_kind_that_is_observed_has_words_also_for_many():
    for kind in Kind:
        of_many = kind not in {
            Kind.CLUSTER_ANSWERS,
            Kind.CLUSTER_UNREACHABLE,
            Kind.CONTROLLER_CHANGED,
        }
        assert ("of the kind" in rules.more_text(kind, 3)) is not of_many


def test_how_many_more_is_not_said_to_who_may_not_know():
    assert (
        rules.more_text("topic-created", 1234) == "1,234 more topics were created at the same time."
    )
    assert (
        rules.more_text("topic-created", None) == "Some more topics were created at the same time."
    )


def test_what_is_kept_of_a_reading_is_bounded_and_says_so():
    changes = Changes()
    for number in range(CHANGES_A_KIND + 3):
        changes.add(Change(kind=Kind.TOPIC_CREATED, of=Of.TOPIC, name=f"t{number}"))
    found = rules.noted(changes)
    assert len(found) == CHANGES_A_KIND + 1
    assert (found[0].area, found[0].name, found[0].subject) == (Area.TOPIC, "t0", "topic/t0")
    last = found[-1]
    assert (last.more, last.count, last.area, last.subject) == (True, 3, Area.OUTLINE, "")


def test_of_one_moment_the_causes_are_first():
    changes = Changes()
    changes.add(Change(kind=Kind.ISR_SHRUNK, of=Of.TOPIC, name="t"))
    changes.add(Change(kind=Kind.LEADER_CHANGED, of=Of.TOPIC, name="t"))
    changes.add(Change(kind=Kind.BROKER_DOWN, of=Of.BROKER, name="2"))
    changes.add(Change(kind=Kind.CONTROLLER_CHANGED, of=Of.CLUSTER))
    assert [each.kind for each in rules.noted(changes)] == [
        "controller-changed",
        "broker-down",
        "leader-changed",
        "isr-shrunk",
    ]


def test_what_is_about_brokers_is_seen_by_who_sees_the_cluster():
    changes = Changes()
    changes.add(Change(kind=Kind.BROKER_DOWN, of=Of.BROKER, name="2"))
    (found,) = rules.noted(changes)
    assert (found.area, found.name, found.subject) == (Area.OUTLINE, "", "broker/2")
