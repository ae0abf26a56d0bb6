import pytest

from controlplane.gateway.kafka_parse import config_entries
from controlplane.topics.rules import create_warnings, unknown_default_warnings, update_warnings

BASE = {
    "cleanup.policy": "delete",
    "retention.ms": "1000",
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
    "max.message.bytes": "1048588",
    "segment.bytes": "1073741824",
}


@pytest.mark.parametrize(
    ("before", "after", "codes"),
    [
        ({}, {}, set()),
        ({}, {"unclean.leader.election.enable": "true"}, {"unclean-election"}),
        ({"unclean.leader.election.enable": "true"}, {}, set()),
        ({}, {"min.insync.replicas": "1"}, {"weak-acks"}),
        ({}, {"min.insync.replicas": "3"}, {"no-slack"}),
        ({}, {"min.insync.replicas": "4"}, {"unwritable"}),
        ({}, {"max.message.bytes": "100"}, {"tiny-messages"}),
        ({}, {"segment.bytes": "1024"}, {"tiny-segments"}),
        ({}, {"retention.ms": "999"}, {"retention-cut"}),
        ({}, {"retention.ms": "-1"}, set()),
        ({"retention.ms": "-1"}, {"retention.ms": "1000"}, {"retention-cut"}),
        ({"cleanup.policy": "compact"}, {"cleanup.policy": "compact", "retention.ms": "1"}, set()),
        ({}, {"cleanup.policy": "compact"}, {"delete-to-compact"}),
        ({"cleanup.policy": "compact"}, {}, {"compact-to-delete"}),
        (
            {"cleanup.policy": "compact"},
            {"cleanup.policy": "compact,delete"},
            {"compact-to-delete"},
        ),
        ({"cleanup.policy": "compact,delete"}, {"cleanup.policy": "compact"}, set()),
    ],
)
def test_what_a_change_warns_about(before, after, codes):
    found = update_warnings(
        before={**BASE, **before}, after={**BASE, **after}, replication_factor=3
    )
    assert {row["code"] for row in found} == codes


def test_durations_are_said_in_words_and_sizes_with_their_noun():
    week, hour = {"retention.ms": "604800000"}, {"retention.ms": "3600000", "retention.bytes": "1"}
    rolled = {"segment.ms": "604800000", "segment.bytes": "1048576"}
    found = update_warnings(
        before={**BASE, **week, **rolled}, after={**BASE, **hour, **rolled}, replication_factor=3
    )
    assert [row["text"] for row in found] == [
        "retention.ms falls to 1 hour: what is beyond it is deleted for good.",
        "retention.bytes falls to 1 byte: what is beyond it is deleted for good.",
        (
            "retention.ms of 1 hour is less than segment.ms of 7 days: data goes by whole segments, so"
            " it may stay 7 days longer."
        ),
        (
            "retention.bytes of 1 byte is less than segment.bytes of 1 MiB (1048576 bytes): data goes"
            " by whole segments, so it may stay 1 MiB (1048576 bytes) longer."
        ),
    ]


def test_a_new_topic_is_warned_about_the_same_settings():
    configs = {"min.insync.replicas": "4", "unclean.leader.election.enable": "TRUE"}
    found = create_warnings(replication_factor=1, configs=configs, brokers=3)
    assert [row["code"] for row in found] == ["low-replication", "unwritable", "unclean-election"]
    assert "losing 1 broker can" in found[0]["text"]


def test_an_unknown_default_is_reported():
    (row,) = unknown_default_warnings({"retention.ms": None, "x": "1"}, {"x": "1"})
    assert row["code"] == "default-unknown"


def test_defaults_come_from_the_synonyms_in_the_topics_unit():
    hours = {"name": "log.retention.hours", "value": "168", "source": "DEFAULT_CONFIG"}
    own = {"name": "retention.ms", "value": "-1", "source": "DYNAMIC_TOPIC_CONFIG"}
    rows = {
        "retention.ms": {
            "value": "-1",
            "config_source": "DYNAMIC_TOPIC_CONFIG",
            "synonyms": [own, hours],
        },
        "cleanup.policy": {"value": "delete", "config_source": "DEFAULT_CONFIG"},
    }
    assert [(row.name, row.default) for row in config_entries(rows)] == [
        ("cleanup.policy", "delete"),
        ("retention.ms", "604800000"),
    ]


@pytest.mark.parametrize(
    ("before", "after", "is_lost"),
    [
        ({"remote.storage.enable": "true"}, {"remote.log.delete.on.disable": "true"}, True),
        (
            {"remote.storage.enable": "true", "remote.log.delete.on.disable": "true"},
            {"remote.storage.enable": "true", "remote.log.delete.on.disable": "true"},
            False,
        ),
        ({"remote.storage.enable": "true"}, {"remote.storage.enable": "false"}, False),
    ],
)
def test_what_lies_in_remote_storage_may_go_with_it(before, after, is_lost):
    found = update_warnings(
        before={**BASE, **before}, after={**BASE, **after}, replication_factor=3
    )
    assert [row["code"] for row in found] == (["remote-deleted"] if is_lost else [])
    assert [row.get("risk") for row in found] == (["loses-data"] if is_lost else [])
