"""kafkajs: a client without librdkafka or Java behind it."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import pytest

from tests.conformance.conftest import PASSWORDS
from tests.local_cluster import LocalCluster

NODE = pathlib.Path(__file__).parent / "node"
IS_INSTALLED = shutil.which("node") is not None and (NODE / "node_modules" / "kafkajs").is_dir()
pytestmark = [
    pytest.mark.conformance,
    pytest.mark.cluster,
    pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed"),
    pytest.mark.skipif(
        not (NODE / "node_modules" / "kafkajs").is_dir(),
        reason="kafkajs is not installed: npm ci --prefix tests/conformance/node",
    ),
]


def run_script(*arguments: str, script: str = "round_trip.js") -> str:
    done = subprocess.run(
        ["node", script, *arguments],
        cwd=NODE,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_produce_consume_commit_resume(cluster: LocalCluster, topic: str, group: str) -> None:
    assert "ok" in run_script(cluster.bootstrap, topic, group)


def test_the_same_over_scram(sasl_cluster: LocalCluster, topic: str, group: str) -> None:
    assert "ok" in run_script(sasl_cluster.bootstrap, topic, group, "admin", PASSWORDS["admin"])
