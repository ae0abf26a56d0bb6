"""Spark reads clusters over TLS, by a password and by a token, from a stock Apache Kafka.

One run for all: what the control plane makes of each way in, beside one that trusts another
authority and one that must not be read.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from controlplane.analytics.chunks import encoded
from controlplane.analytics.conf import conf
from controlplane.analytics.launch import write_config
from controlplane.analytics.models import AnalyticsRun
from controlplane.analytics.sampler import Sampler
from controlplane.analytics.slices import records
from controlplane.analytics.telemetry import TelemetryPublisher, ensure_topic
from controlplane.analytics.ways_in import look
from controlplane.gateway.connection_spec import ConnectionSpec, OAuthClient
from controlplane.gateway.kafka import KafkaGateway
from controlplane.gateway.types import NewTopic
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.runs import RunResult
from spark_analytics.io import jars
from tests.certificates import Authority
from tests.controlplane.live.stock_kafka import ADMIN, PASSWORD
from tests.controlplane.live.token_kafka import CLIENT, SECRET, token_kafka
from tests.local_cluster import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.cluster, pytest.mark.timeout(600)]
WINDOW_MS = Rules().window_s * 1000
LEASE_TOUCHED_EVERY_S = 5.0
PASSWORDS, TOKENS, STRANGE, LED_AWAY = "kc_passwords", "kc_tokens", "kc_strange", "kc_led_away"


@pytest.fixture(scope="module")
def kafka(tmp_path_factory):
    with token_kafka(Path(tmp_path_factory.mktemp("secured"))) as made:
        yield made


def specs_of(kafka):
    shared = {
        "bootstrap_servers": (kafka.bootstrap,),
        "security_protocol": "SASL_SSL",
        "ca_pem": kafka.ca_file.read_text(),
        "timeout_s": 20,
    }
    return {
        PASSWORDS: ConnectionSpec(
            **shared, sasl_mechanism="PLAIN", username=ADMIN, password=PASSWORD
        ),
        TOKENS: ConnectionSpec(
            **shared,
            sasl_mechanism="OAUTHBEARER",
            oauth=OAuthClient(token_url=kafka.token_url, client_id=CLIENT, client_secret=SECRET),
        ),
    }


def collect(specs):
    """One sample of each, published by its own way in; what was looked at then."""
    ways = {}
    for cluster_id, spec in specs.items():
        gateway, publisher = KafkaGateway(spec), TelemetryPublisher(spec)
        try:
            ensure_topic(gateway)
            if "orders" not in gateway.describe_topics(["orders"]):
                gateway.create_topic(NewTopic(name="orders", partitions=2, replication_factor=1))
            publisher.publish(encoded(records(cluster_id, Sampler().sample(gateway, budget_s=30))))
            ways[cluster_id] = look(spec, gateway)
        finally:
            publisher.close()
            gateway.close()
    return ways


@contextlib.contextmanager
def supervised(lease):
    """A run ends by itself when nobody has touched its lease for a while, and a busy machine needs
    longer than that."""
    over = threading.Event()

    def touch():
        while not over.wait(LEASE_TOUCHED_EVERY_S):
            lease.touch()

    lease.touch()
    keeper = threading.Thread(target=touch, daemon=True)
    keeper.start()
    try:
        yield
    finally:
        over.set()
        keeper.join()


@pytest.fixture(scope="module")
def story(kafka, tmp_path_factory):
    """What the run said, its folder, and how often the issuer was asked meanwhile."""
    root = tmp_path_factory.mktemp("run")
    jars_dir = Path(os.environ.get("PENSTOCK_SPARK_JARS_DIR") or ROOT / "build/jars")
    jars.fetch(jars_dir)
    ways = collect(specs_of(kafka))
    stranger = Authority(root, "stranger").file.read_text()
    good = ways[PASSWORDS]
    ways[STRANGE] = dataclasses.replace(good, spec=dataclasses.replace(good.spec, ca_pem=stranger))
    ways[LED_AWAY] = dataclasses.replace(good, refusal="it leads elsewhere")
    to_ms = (time.time_ns() // 1_000_000 // WINDOW_MS + 1) * WINDOW_MS
    work = root / "work"
    work.mkdir()
    run = AnalyticsRun(
        id="run_1", work_dir=str(work), from_ts_ms=to_ms - 20 * WINDOW_MS, to_ts_ms=to_ms
    )
    settings = dataclasses.replace(
        conf(), spark_master="local[2]", jars_dir=jars_dir, data_uri=f"file://{root}/lake"
    )
    asked = len(kafka.issuer.issued)
    config = write_config(run, settings, ways)
    with supervised(work / "lease"):
        done = subprocess.run(
            [sys.executable, "-m", "spark_analytics", "run", "--config", str(config)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    result = RunResult.from_json((work / "result.json").read_text())
    return SimpleNamespace(
        work=work,
        asked=len(kafka.issuer.issued) - asked,
        of={row.cluster_id: row for row in result.clusters},
        log=done.stdout + done.stderr,
    )


@pytest.mark.parametrize("cluster_id", [PASSWORDS, TOKENS])
def test_telemetry_is_read_over_tls(story, cluster_id):
    assert story.of[cluster_id].error is None
    assert story.of[cluster_id].records_in > 0
    rows = (story.work / "topic_retention.jsonl").read_text().splitlines()
    assert (cluster_id, "orders") in {
        (row["cluster_id"], row["topic"]) for row in map(json.loads, rows)
    }


def test_the_jvm_asks_no_token_endpoint_and_knows_no_secret_of_the_client(story):
    assert story.asked == 0
    assert not (story.work / "secrets.json").exists()
    assert SECRET not in story.log


def test_brokers_of_another_authority_are_not_believed(story):
    assert "SslAuthenticationException: SSL handshake failed" in story.of[STRANGE].error


def test_a_cluster_that_must_not_be_read_is_not_and_says_why(story):
    assert story.of[LED_AWAY].error == "it leads elsewhere"
