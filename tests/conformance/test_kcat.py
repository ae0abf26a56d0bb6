"""kcat (librdkafka in C) from the command line."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from confluent_kafka.admin import (
    AdminClient,
    NewTopic,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from tests.conformance.conftest import PASSWORDS
from tests.conformance.test_confluent_kafka import create
from tests.conformance.test_sasl import login
from tests.local_cluster import LocalCluster

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.cluster,
    pytest.mark.skipif(shutil.which("kcat") is None, reason="kcat is not installed"),
]


def kcat(bootstrap: str, *arguments: str, stdin: str = "") -> str:
    done = subprocess.run(
        ["kcat", "-b", bootstrap, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_metadata_produce_consume(cluster: LocalCluster, topic: str, group: str) -> None:
    create(cluster.bootstrap, topic, 2)
    listing = json.loads(kcat(cluster.bootstrap, "-L", "-J", "-t", topic))
    assert sorted(broker["id"] for broker in listing["brokers"]) == [0, 1, 2]
    assert len(listing["topics"][0]["partitions"]) == 2
    lines = "".join(f"k{n}:v{n}\n" for n in range(100))
    kcat(cluster.bootstrap, "-P", "-t", topic, "-K:", "-X", "acks=all", stdin=lines)
    read = kcat(cluster.bootstrap, "-C", "-t", topic, "-o", "beginning", "-e", "-q", "-K:")
    assert sorted(read.splitlines()) == sorted(lines.splitlines())
    grouped = kcat(
        cluster.bootstrap, "-G", group, "-q", "-c", "100", "-X", "auto.offset.reset=earliest", topic
    )
    assert len(grouped.splitlines()) == 100


def test_offset_by_time(cluster: LocalCluster, topic: str) -> None:
    create(cluster.bootstrap, topic, 1)
    kcat(cluster.bootstrap, "-P", "-t", topic, stdin="a\nb\n")
    answer = kcat(cluster.bootstrap, "-Q", "-t", f"{topic}:0:0")
    assert "offset 0" in answer


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_login(sasl_cluster: LocalCluster, topic: str, mechanism: str) -> None:
    """Debian 12's librdkafka 2.0 looks for SaslHandshake 0 among the versions before it logs in."""
    admin = AdminClient(login(sasl_cluster, "admin", PASSWORDS["admin"]))
    admin.create_topics([NewTopic(topic, 1, 3)])[topic].result(20)
    info = ScramCredentialInfo(ScramMechanism[mechanism.replace("-", "_")], 4096)
    password = PASSWORDS["admin"].encode()
    admin.alter_user_scram_credentials([UserScramCredentialUpsertion("admin", info, password)])[
        "admin"
    ].result(10)
    options = [
        part
        for key, value in login(sasl_cluster, "admin", PASSWORDS["admin"], mechanism).items()
        if key != "bootstrap.servers"
        for part in ("-X", f"{key}={value}")
    ]
    kcat(sasl_cluster.bootstrap, *options, "-P", "-t", topic, "-X", "acks=all", stdin="a\nb\n")
    read = kcat(sasl_cluster.bootstrap, *options, "-C", "-t", topic, "-o", "beginning", "-e", "-q")
    assert read.splitlines() == ["a", "b"]
