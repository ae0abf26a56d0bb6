"""kafka-topics, kafka-delete-records, kafka-get-offsets, kafka-log-dirs, kafka-dump-log."""

from __future__ import annotations

import json
import pathlib
import re
import time

import pytest

from tests.conformance.java_tools import ClusterTools
from tests.local_cluster import LocalCluster, eventually

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]


def create(tool: ClusterTools, topic: str, *options: str) -> None:
    out = tool("kafka-topics", "--create", "--topic", topic, *options).ok()
    assert f"Created topic {topic}." in out


def produce(tool: ClusterTools, topic: str, lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines)
    tool("kafka-console-producer", "--topic", topic, stdin=text).ok()


def offsets(tool: ClusterTools, topic: str, *options: str) -> dict[int, int]:
    found = {}
    for line in tool("kafka-get-offsets", "--topic", topic, *options).ok().splitlines():
        name, partition, offset = line.rsplit(":", 2)
        assert name == topic
        found[int(partition)] = int(offset or -1)
    return found


def test_topics_are_made_shown_grown_and_deleted(tool: ClusterTools, topic: str) -> None:
    create(
        tool, topic, "--partitions", "3", "--replication-factor", "3", "--config", "retention.ms=7"
    )
    shown = tool("kafka-topics", "--describe", "--topic", topic).ok().splitlines()
    assert re.search(
        r"PartitionCount: 3\tReplicationFactor: 3\tConfigs: retention\.ms=7$", shown[0]
    )
    assert re.search(r"TopicId: [\w-]{22}\t", shown[0])
    partitions = [line for line in shown if "Partition: " in line]
    assert len(partitions) == 3
    for line in partitions:
        replicas = re.search(r"Replicas: ([\d,]+)\t", line)
        assert replicas
        assert sorted(replicas[1].split(",")) == ["0", "1", "2"]
        assert f"Leader: {replicas[1][0]}\t" in line, "the preferred one"
    tool("kafka-topics", "--alter", "--topic", topic, "--partitions", "5").ok()
    assert len(offsets(tool, topic)) == 5
    assert topic in tool("kafka-topics", "--list").ok().splitlines()
    tool("kafka-topics", "--delete", "--topic", topic).ok()
    assert topic not in tool("kafka-topics", "--list").ok().splitlines()


def test_replicas_may_be_assigned(tool: ClusterTools, topic: str) -> None:
    create(tool, topic, "--replica-assignment", "2:0,1:2,0:1")
    shown = tool("kafka-topics", "--describe", "--topic", topic).ok()
    assert re.findall(r"Leader: (\d)\tReplicas: ([\d,]+)", shown) == [
        ("2", "2,0"),
        ("1", "1,2"),
        ("0", "0,1"),
    ]
    grow = ["--alter", "--topic", topic, "--partitions", "4", "--replica-assignment"]
    tool("kafka-topics", *grow, "2:0,1:2,0:1,1:0").ok()
    assert (
        "Partition: 3\tLeader: 1\tReplicas: 1,0\t"
        in tool("kafka-topics", "--describe", "--topic", topic).ok()
    )


def test_the_filters_of_describe_find_nothing_in_a_healthy_cluster(
    tool: ClusterTools, topic: str
) -> None:
    create(tool, topic, "--replication-factor", "3", "--config", "min.insync.replicas=3")
    for condition in ("under-replicated", "unavailable", "under-min-isr"):
        shown = tool("kafka-topics", "--describe", "--topic", topic, f"--{condition}-partitions")
        assert topic not in shown.ok()
    at_least = tool("kafka-topics", "--describe", "--topic", topic, "--at-min-isr-partitions")
    assert topic in at_least.ok(), "three replicas, three asked for"
    assert topic in tool("kafka-topics", "--describe", "--topics-with-overrides").ok()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--create", "--topic", "bad name"], "illegal|contains one or more characters"),
        (
            ["--create", "--topic", "x", "--replication-factor", "7"],
            "larger than available brokers: 3",
        ),
        (
            ["--create", "--topic", "x", "--config", "nonsense=1"],
            "Unknown topic config name: nonsense",
        ),
        (["--create", "--topic", "x", "--config", "retention.ms=soon"], "retention.ms"),
        (["--create", "--topic", "x", "--replica-assignment", "0:0"], "duplicate|Duplicate"),
        (["--describe", "--topic", "never-made"], "does not exist as expected"),
        (["--delete", "--topic", "never-made"], "does not exist as expected"),
        (["--alter", "--topic", "never-made", "--partitions", "3"], "does not exist as expected"),
    ],
    ids=lambda value: " ".join(value[:3]) if isinstance(value, list) else "",
)
def test_what_cannot_be_is_refused_with_a_reason(
    tool: ClusterTools, options: list[str], said: str
) -> None:
    ran = tool("kafka-topics", *options)
    assert ran.status == 1
    assert re.search(said, ran.out + ran.err), ran


def test_a_topic_is_not_made_twice_and_does_not_shrink(tool: ClusterTools, topic: str) -> None:
    create(tool, topic, "--partitions", "2")
    tool("kafka-topics", "--create", "--topic", topic).refused(f"Topic '{topic}' already exists.")
    tool("kafka-topics", "--create", "--topic", topic, "--if-not-exists").ok()
    tool("kafka-topics", "--alter", "--topic", topic, "--partitions", "1").refused(
        "Topic currently has 2 partitions, which is higher than the requested 1."
    )


def test_offsets_by_every_kind_of_time(tool: ClusterTools, topic: str) -> None:
    create(tool, topic, "--partitions", "2")
    produce(tool, topic, [f"line {number}" for number in range(39)])
    time.sleep(0.01)
    produce(tool, topic, ["the newest"])
    latest = offsets(tool, topic, "--time", "latest")
    assert sum(latest.values()) == 40
    assert offsets(tool, topic) == latest
    assert offsets(tool, topic, "--time", "-1") == latest
    assert offsets(tool, topic, "--time", "earliest") == {0: 0, 1: 0}
    assert offsets(tool, topic, "--time", "-4") == {0: 0, 1: 0}, "the earliest that lies here"
    newest = offsets(tool, topic, "--time", "max-timestamp")
    # One a partition that has records; each batch went to a partition of its own or to one.
    assert newest.keys() == {partition for partition, end in latest.items() if end}
    assert any(offset == latest[partition] - 1 for partition, offset in newest.items())
    assert sum(offsets(tool, topic, "--time", "0").values()) == 0
    only = tool(
        "kafka-get-offsets", "--topic-partitions", f"{topic}:1", "--exclude-internal-topics"
    )
    assert only.ok().strip() == f"{topic}:1:{latest[1]}"


def test_records_are_deleted_up_to_an_offset(
    tool: ClusterTools, topic: str, tmp_path: pathlib.Path
) -> None:
    create(tool, topic, "--replication-factor", "3")
    produce(tool, topic, [f"line {number}" for number in range(20)])

    def delete(offset: int) -> str:
        path = tmp_path / "offsets.json"
        row = {"topic": topic, "partition": 0, "offset": offset}
        path.write_text(json.dumps({"partitions": [row], "version": 1}))
        return tool("kafka-delete-records", "--offset-json-file", str(path)).ok()

    assert f"partition: {topic}-0\tlow_watermark: 7" in delete(7)
    assert offsets(tool, topic, "--time", "earliest") == {0: 7}
    assert "low_watermark: 20" in delete(-1)
    assert offsets(tool, topic, "--time", "earliest") == {0: 20}
    assert "OffsetOutOfRange" in delete(99)


def log_dirs(tool: ClusterTools, *options: str) -> dict[int, dict[str, dict[str, object]]]:
    """Broker to partition to what kafka-log-dirs says of it."""
    out = tool("kafka-log-dirs", "--describe", *options).ok()
    answer = json.loads(out.splitlines()[-1])
    assert answer["version"] == 1
    found = {}
    for broker in answer["brokers"]:
        assert all(entry["error"] is None for entry in broker["logDirs"])
        found[broker["broker"]] = {
            partition["partition"]: {**partition, "logDir": entry["logDir"]}
            for entry in broker["logDirs"]
            for partition in entry["partitions"]
        }
    return found


def test_log_directories_and_the_files_in_them(
    tool: ClusterTools, cluster: LocalCluster, topic: str
) -> None:
    create(tool, topic, "--replication-factor", "3", "--config", "segment.bytes=2000")
    for number in range(5):
        produce(tool, topic, [f"{number} " + "x" * 600] * 2)
    for _ in eventually(20, "three replicas of one size"):
        found = log_dirs(tool, "--topic-list", topic)
        sizes = {found[broker][f"{topic}-0"]["size"] for broker in found}
        if len(sizes) == 1:
            break
    assert set(found) == {0, 1, 2}
    (size,) = sizes
    row = found[0][f"{topic}-0"]
    assert (row["offsetLag"], row["isFuture"]) == (0, False)
    assert set(log_dirs(tool, "--topic-list", topic, "--broker-list", "1")) == {1}
    files = sorted(pathlib.Path(str(row["logDir"]), f"{topic}-0").glob("*.log"))
    assert len(files) > 1
    assert sum(file.stat().st_size for file in files) == size
    names = ",".join(map(str, files))
    printed = tool.bare(
        "kafka-dump-log", "--deep-iteration", "--print-data-log", "--files", names
    ).ok()
    assert re.findall(r"^\| offset: (\d+) ", printed, re.MULTILINE) == [str(n) for n in range(10)]
    assert printed.count("x" * 600) == 10
