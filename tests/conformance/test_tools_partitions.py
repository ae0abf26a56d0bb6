"""kafka-reassign-partitions (generate, execute, verify, cancel) and kafka-leader-election."""

from __future__ import annotations

import json
import pathlib
import re

import pytest

from tests.conformance.java_tools import ClusterTools
from tests.local_cluster import eventually

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]
REASSIGN = "kafka-reassign-partitions"
THROTTLE_KEYS = ("leader.replication.throttled", "follower.replication.throttled")


def replicas(tool: ClusterTools, topic: str) -> dict[int, list[int]]:
    shown = tool("kafka-topics", "--describe", "--topic", topic).ok()
    found = re.findall(r"Partition: (\d+)\t.*?Replicas: ([\d,]*)", shown)
    return {int(partition): [int(each) for each in ids.split(",")] for partition, ids in found}


def leaders(tool: ClusterTools, topic: str) -> dict[int, int]:
    shown = tool("kafka-topics", "--describe", "--topic", topic).ok()
    return {
        int(p): int(leader) for p, leader in re.findall(r"Partition: (\d+)\tLeader: (\d+)", shown)
    }


def plan(path: pathlib.Path, topic: str, wanted: dict[int, list[int]]) -> str:
    rows = [{"topic": topic, "partition": p, "replicas": ids} for p, ids in wanted.items()]
    path.write_text(json.dumps({"version": 1, "partitions": rows}))
    return str(path)


def throttles(tool: ClusterTools, topic: str) -> str:
    """What is left of limits on the topic and on the brokers."""
    of_topic = tool(
        "kafka-configs", "--describe", "--entity-type", "topics", "--entity-name", topic
    )
    of_brokers = tool("kafka-configs", "--describe", "--entity-type", "brokers")
    lines = (of_topic.ok() + of_brokers.ok()).splitlines()
    return "\n".join(line for line in lines if "throttled" in line)


def verify(tool: ClusterTools, path: str, *options: str) -> str:
    return tool(REASSIGN, "--verify", "--reassignment-json-file", path, *options).ok()


@pytest.fixture
def placed(tool: ClusterTools, topic: str) -> str:
    """A topic with some megabytes in two partitions, on brokers 0 and 1."""
    options = ["--replica-assignment", "0:1,1:0"]
    tool("kafka-topics", "--create", "--topic", topic, *options).ok()
    tool.bare(
        *("kafka-producer-perf-test", "--topic", topic, "--num-records", "4000"),
        *("--record-size", "1000", "--throughput", "-1", "--producer-props"),
        f"bootstrap.servers={tool.bootstrap}",
    ).ok()
    return topic


def test_generate_proposes_replicas_on_the_brokers_asked_for(
    tool: ClusterTools, placed: str, tmp_path: pathlib.Path
) -> None:
    topics = tmp_path / "topics.json"
    topics.write_text(json.dumps({"version": 1, "topics": [{"topic": placed}]}))
    out = tool(
        REASSIGN, "--generate", "--topics-to-move-json-file", str(topics), "--broker-list", "1,2"
    ).ok()
    current, proposed = (json.loads(line) for line in out.splitlines() if line.startswith("{"))
    rows = {row["partition"]: row["replicas"] for row in current["partitions"]}
    assert rows == {0: [0, 1], 1: [1, 0]} == replicas(tool, placed)
    assert {tuple(sorted(row["replicas"])) for row in proposed["partitions"]} == {(1, 2)}


def test_replicas_are_moved_and_the_limit_is_taken_away(
    tool: ClusterTools, placed: str, tmp_path: pathlib.Path
) -> None:
    wanted = {0: [2, 1], 1: [1, 2]}
    path = plan(tmp_path / "plan.json", placed, wanted)
    out = tool(
        *(REASSIGN, "--execute", "--reassignment-json-file", path, "--throttle", "50000000")
    ).ok()
    assert "Successfully started partition reassignments" in out
    for _ in eventually(60, "the move is complete"):
        out = verify(tool, path)
        if out.count("is completed") == 2:
            break
    assert replicas(tool, placed) == wanted
    assert throttles(tool, placed) == ""
    assert "No partition reassignments found." in tool(REASSIGN, "--list").ok()


def test_a_move_under_a_limit_is_listed_and_cancelled(
    tool: ClusterTools, placed: str, tmp_path: pathlib.Path
) -> None:
    path = plan(tmp_path / "plan.json", placed, {0: [2, 1]})
    tool(REASSIGN, "--execute", "--reassignment-json-file", path, "--throttle", "1000").ok()
    assert all(key in throttles(tool, placed) for key in THROTTLE_KEYS)
    listed = tool(REASSIGN, "--list").ok()
    assert re.search(rf"{placed}-0: replicas: .* adding: 2\. removing: 0\.", listed), listed
    assert "is still in progress" in verify(tool, path, "--preserve-throttles")
    again = tool(REASSIGN, "--execute", "--reassignment-json-file", path)
    again.refused("there is an existing partition assignment")
    cancelled = tool(REASSIGN, "--cancel", "--reassignment-json-file", path).ok()
    assert f"Successfully cancelled partition reassignment for: {placed}-0" in cancelled
    for _ in eventually(30, "the old replicas stand alone"):
        if sorted(replicas(tool, placed)[0]) == [0, 1]:  # Kafka leaves them in the plan's order
            break
    assert throttles(tool, placed) == ""


def test_a_plan_that_cannot_be_is_refused(
    tool: ClusterTools, placed: str, tmp_path: pathlib.Path
) -> None:
    before = replicas(tool, placed)
    for number, wanted in enumerate(({0: [9]}, {0: [1, 1]}, {7: [1]})):
        path = plan(tmp_path / f"{number}.json", placed, wanted)
        ran = tool(REASSIGN, "--execute", "--reassignment-json-file", path)
        assert ran.status == 1, ran
    assert replicas(tool, placed) == before


def test_leaders_go_back_to_the_preferred_replica(
    tool: ClusterTools, placed: str, tmp_path: pathlib.Path
) -> None:
    path = plan(tmp_path / "plan.json", placed, {0: [1, 0], 1: [0, 1]})
    tool(REASSIGN, "--execute", "--reassignment-json-file", path).ok()
    for _ in eventually(20, "the order is stored"):
        if replicas(tool, placed) == {0: [1, 0], 1: [0, 1]}:
            break
    assert leaders(tool, placed) == {0: 0, 1: 1}, "an order alone moves no leader"
    elect = ["kafka-leader-election", "--election-type", "preferred"]
    one = tool(*elect, "--topic", placed, "--partition", "0").ok()
    assert "Successfully completed leader election (PREFERRED)" in one
    assert leaders(tool, placed) == {0: 1, 1: 1}
    again = tool(*elect, "--topic", placed, "--partition", "0").ok()
    assert "Valid replica already elected" in again
    rows = tmp_path / "elect.json"
    rows.write_text(json.dumps({"partitions": [{"topic": placed, "partition": 1}]}))
    tool(*elect, "--path-to-json-file", str(rows)).ok()
    assert leaders(tool, placed) == {0: 1, 1: 0}
    tool(*elect, "--all-topic-partitions").ok()
    unclean = ["kafka-leader-election", "--election-type", "unclean"]
    needless = tool(*unclean, "--topic", placed, "--partition", "0").ok()
    assert "Valid replica already elected" in needless
    unknown = tool(*elect, "--topic", placed, "--partition", "9")
    assert unknown.status == 1
    assert "UnknownTopicOrPartition" in unknown.out + unknown.err
