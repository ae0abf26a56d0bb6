"""kafka-consumer-groups: list, describe, reset-offsets in all its forms, delete-offsets, delete."""

from __future__ import annotations

import datetime as dt
import pathlib
import re
import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer

from tests.conformance.java_tools import ClusterTools
from tests.local_cluster import LocalCluster, eventually

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]
RECORDS = 30


@pytest.fixture
def consumed(tool: ClusterTools, topic: str, group: str) -> str:
    """A group that has read all of a topic with two partitions and has gone; its name."""
    tool("kafka-topics", "--create", "--topic", topic, "--partitions", "2").ok()
    lines = "".join(f"k{number}:v{number}\n" for number in range(RECORDS))
    options = ["--property", "parse.key=true", "--property", "key.separator=:"]
    tool("kafka-console-producer", "--topic", topic, *options, stdin=lines).ok()
    read = tool(
        *("kafka-console-consumer", "--topic", topic, "--group", group, "--from-beginning"),
        *("--max-messages", str(RECORDS), "--timeout-ms", "30000"),
    ).ok()
    assert sorted(read.split()) == sorted(f"v{number}" for number in range(RECORDS))
    return group


@pytest.fixture
def member(cluster: LocalCluster, topic: str, consumed: str) -> Iterator[Consumer]:
    """One that is in the group."""
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": consumed,
            "client.id": "the-member",
            "group.instance.id": "static-1",
            "partition.assignment.strategy": "range",
        }
    )
    consumer.subscribe([topic])
    ends_s = time.monotonic() + 30
    while not consumer.assignment() and time.monotonic() < ends_s:
        consumer.poll(0.2)
    assert len(consumer.assignment()) == 2
    yield consumer
    consumer.close()


def describe(tool: ClusterTools, group: str, *options: str) -> list[dict[str, str]]:
    return tool("kafka-consumer-groups", "--describe", "--group", group, *options).table()


def committed(tool: ClusterTools, group: str) -> dict[int, int]:
    return {int(row["PARTITION"]): int(row["CURRENT-OFFSET"]) for row in describe(tool, group)}


def reset(tool: ClusterTools, group: str, *options: str, execute: bool = True) -> dict[int, int]:
    how = "--execute" if execute else "--dry-run"
    ran = tool("kafka-consumer-groups", "--reset-offsets", "--group", group, *options, how)
    # The tool of 3.9.1 prints all rows in one line.
    rows = re.findall(rf"\b{group}\s+\S+\s+(\d+)\s+(\d+)", ran.ok())
    return {int(partition): int(offset) for partition, offset in rows}


def test_groups_are_listed_by_state_and_type(tool: ClusterTools, consumed: str) -> None:
    assert consumed in tool("kafka-consumer-groups", "--list").ok().splitlines()
    rows = {row["GROUP"]: row for row in tool("kafka-consumer-groups", "--list", "--state").table()}
    assert rows[consumed]["STATE"] == "Empty"
    empty = tool("kafka-consumer-groups", "--list", "--state", "Empty").ok()
    assert consumed in empty
    assert consumed not in tool("kafka-consumer-groups", "--list", "--state", "Stable").ok()
    rows = {row["GROUP"]: row for row in tool("kafka-consumer-groups", "--list", "--type").table()}
    assert rows[consumed]["TYPE"] == "Classic"
    assert consumed in tool("kafka-consumer-groups", "--list", "--type", "classic").ok()
    assert consumed not in tool("kafka-consumer-groups", "--list", "--type", "consumer").ok()


def test_an_empty_group_is_described(tool: ClusterTools, topic: str, consumed: str) -> None:
    rows = describe(tool, consumed)
    assert [row["TOPIC"] for row in rows] == [topic] * 2
    assert {row["LAG"] for row in rows} == {"0"}
    assert {row["CONSUMER-ID"] for row in rows} == {"-"}
    assert sum(int(row["CURRENT-OFFSET"]) for row in rows) == RECORDS
    ran = tool("kafka-consumer-groups", "--describe", "--group", consumed, "--state")
    assert " Empty " in ran.ok()
    assert "has no active members" in ran.out + ran.err
    assert describe(tool, consumed, "--offsets") == rows
    everything = tool("kafka-consumer-groups", "--describe", "--all-groups").ok()
    assert consumed in everything


def test_a_member_is_described(
    tool: ClusterTools, topic: str, consumed: str, member: Consumer
) -> None:
    rows = describe(tool, consumed)
    assert {row["CLIENT-ID"] for row in rows} == {"the-member"}
    assert {row["HOST"] for row in rows} == {"/127.0.0.1"}
    assert all(row["CONSUMER-ID"].startswith("static-1-") for row in rows)
    (row,) = describe(tool, consumed, "--members", "--verbose")
    assert (row["GROUP-INSTANCE-ID"], row["#PARTITIONS"]) == ("static-1", "2")
    assert row["ASSIGNMENT"].endswith("(0,1)"), "the tool of 3.9.1 leaves the topic out"
    state = tool("kafka-consumer-groups", "--describe", "--group", consumed, "--state").ok()
    assert state.split()[-4:][1:] == ["range", "Stable", "1"], state


def test_a_group_with_members_is_left_as_it_is(
    tool: ClusterTools, topic: str, consumed: str, member: Consumer
) -> None:
    before = committed(tool, consumed)
    refused = tool(
        *("kafka-consumer-groups", "--reset-offsets", "--group", consumed, "--all-topics"),
        *("--to-earliest", "--execute"),
    )
    assert "can only be reset if the group" in refused.out + refused.err
    deleted = tool("kafka-consumer-groups", "--delete", "--group", consumed)
    assert "GroupNotEmpty" in deleted.out + deleted.err
    kept = tool("kafka-consumer-groups", "--delete-offsets", "--group", consumed, "--topic", topic)
    assert "GroupSubscribedToTopic" in kept.out + kept.err or "subscribed" in kept.out + kept.err
    assert committed(tool, consumed) == before


def test_offsets_are_reset_in_every_way(tool: ClusterTools, topic: str, consumed: str) -> None:
    end = committed(tool, consumed)
    whole = ["--topic", topic]
    start = {0: 0, 1: 0}
    assert reset(tool, consumed, *whole, "--to-earliest", execute=False) == start
    assert committed(tool, consumed) == end, "a dry run changes nothing"
    assert reset(tool, consumed, *whole, "--to-earliest") == start
    assert committed(tool, consumed) == start
    assert reset(tool, consumed, "--all-topics", "--to-latest") == end
    assert reset(tool, consumed, *whole, "--shift-by", "-3") == {p: o - 3 for p, o in end.items()}
    assert reset(tool, consumed, *whole, "--shift-by", "100") == end, "not beyond the end"
    assert reset(tool, consumed, "--topic", f"{topic}:1", "--to-offset", "2") == {1: 2}
    assert committed(tool, consumed) == {0: end[0], 1: 2}
    assert reset(tool, consumed, *whole, "--to-current") == {0: end[0], 1: 2}
    assert reset(tool, consumed, *whole, "--by-duration", "PT1H") == start
    long_ago = (dt.datetime.now(dt.UTC) - dt.timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.000")
    assert reset(tool, consumed, *whole, "--to-latest") == end
    assert reset(tool, consumed, *whole, "--to-datetime", long_ago) == start
    later = (dt.datetime.now(dt.UTC) + dt.timedelta(days=2)).strftime("%Y-%m-%dT%H:%M:%S.000")
    assert reset(tool, consumed, *whole, "--to-datetime", later) == end


def test_offsets_are_written_to_a_file_and_reset_from_it(
    tool: ClusterTools, topic: str, consumed: str, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "offsets.csv"
    exported = tool(
        *("kafka-consumer-groups", "--reset-offsets", "--group", consumed, "--topic", topic),
        *("--to-offset", "3", "--dry-run", "--export"),
    ).ok()
    rows = sorted(line for line in exported.splitlines() if line.startswith((topic, f'"{topic}')))
    assert [row.replace('"', "") for row in rows] == [f"{topic},0,3", f"{topic},1,3"]
    path.write_text("\n".join(rows) + "\n")
    assert reset(tool, consumed, "--from-file", str(path)) == {0: 3, 1: 3}
    assert committed(tool, consumed) == {0: 3, 1: 3}


def test_offsets_and_groups_are_deleted(tool: ClusterTools, topic: str, consumed: str) -> None:
    ran = tool(
        "kafka-consumer-groups", "--delete-offsets", "--group", consumed, "--topic", f"{topic}:0"
    )
    assert "Successful" in ran.ok()
    assert set(committed(tool, consumed)) == {1}
    deleted = tool("kafka-consumer-groups", "--delete", "--group", consumed).ok()
    assert f"Deletion of requested consumer groups ('{consumed}') was successful." in deleted
    for _ in eventually(10, "the group is not listed"):
        if consumed not in tool("kafka-consumer-groups", "--list").ok().splitlines():
            break
    again = tool("kafka-consumer-groups", "--delete", "--group", consumed)
    assert "GroupIdNotFound" in again.out + again.err
    unknown = tool("kafka-consumer-groups", "--describe", "--group", consumed)
    assert "does not exist" in unknown.out + unknown.err
