"""The snippets that the console offers, run as they are against brokers with TLS and SCRAM."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewTopic

from controlplane.clusters.snippets import PASSWORD_VARIABLE, TOPIC, snippets
from tests.certificates import Authority
from tests.conformance.conftest import PASSWORDS, QUICK, scram_credential
from tests.conformance.test_kafkajs import IS_INSTALLED, NODE
from tests.local_cluster import local_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]
RUN_TIMEOUT_S = 60
READ_TIMEOUT_S = 30
COMMANDS = {
    "python": [sys.executable],
    "kcat": ["sh"],
    "node": ["node"],
}
MISSING = {
    "kcat": shutil.which("kcat") is None,
    "node": not IS_INSTALLED,
}


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What `client_config` gives for one broker whose clients come by SASL_SSL."""
    directory = tmp_path_factory.mktemp("snippets")
    authority = Authority(directory, "ours")
    keystore = directory / "keystore.pem"
    authority.issue("broker").replace(keystore)
    settings = {
        **QUICK,
        "sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SASL_SSL:SASL_SSL",
        "inter.broker.listener.name": "PLAINTEXT",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(keystore),
        "penstock.bootstrap.scram": scram_credential("admin", PASSWORDS["admin"], "SCRAM-SHA-512"),
    }
    options = {"brokers": 1, "settings": settings, "listeners": ["SASL_SSL"]}
    with local_cluster(tmp_path_factory.mktemp("snippets-cluster"), **options) as started:
        yield {
            "bootstrap.servers": started.bootstraps["SASL_SSL"],
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": "admin",
            "sasl.password": "<password>",
            "ssl.ca.location": str(authority.file),
        }


@pytest.fixture
def topic(values: dict[str, str]) -> str:
    """The one that snippets name, empty of others' records: each reads from where it began."""
    admin = AdminClient({**values, "sasl.password": PASSWORDS["admin"]})
    if TOPIC not in admin.list_topics(timeout=10).topics:
        admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(20)
    return TOPIC


def run_as_shown(language: str, values: dict[str, str], directory: Path) -> None:
    (shown,) = [row for row in snippets(values) if row["language"] == language]
    program = directory / shown["file"]
    program.write_text(shown["text"])
    if language == "node":
        (directory / "node_modules").symlink_to(NODE / "node_modules")
    done = subprocess.run(
        [*COMMANDS[language], str(program)],
        cwd=directory,
        env={**os.environ, PASSWORD_VARIABLE: PASSWORDS["admin"]},
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def count_of(values: dict[str, str], topic: str, expected: int) -> list[bytes]:
    """The values of the topic's records, once there are as many as expected."""
    config = {**values, "sasl.password": PASSWORDS["admin"], "group.id": f"reader-{time.time_ns()}"}
    consumer = Consumer({**config, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    found: list[bytes] = []
    ends_s = time.monotonic() + READ_TIMEOUT_S
    while len(found) < expected and time.monotonic() < ends_s:
        message = consumer.poll(1)
        if message is not None and message.error() is None:
            found.append(message.value() or b"")
    consumer.close()
    return found


def test_each_sends_its_record(values: dict[str, str], topic: str, tmp_path: Path) -> None:
    ran = [language for language in COMMANDS if not MISSING.get(language, False)]
    for language in ran:
        directory = tmp_path / language
        directory.mkdir()
        run_as_shown(language, values, directory)
    assert "python" in ran
    assert count_of(values, topic, len(ran)) == [b"hello"] * len(ran)


def test_a_wrong_authority_is_not_trusted(values: dict[str, str], tmp_path: Path) -> None:
    other = Authority(tmp_path, "other")
    with pytest.raises(AssertionError, match=r"not delivered|SSL|certificate"):
        run_as_shown("python", {**values, "ssl.ca.location": str(other.file)}, tmp_path)
