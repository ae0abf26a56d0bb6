"""A whole broker's metrics page shows what `deploy/METRICS.md` lists, no more and no less."""

import json
import pathlib
import re
import urllib.request

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from deploy.local.config import REPOSITORY
from tests.local_cluster import local_cluster
from tests.metrics_table import check_page, guide
from tests.ports import free_row

DEPLOY = REPOSITORY / "deploy"
pytestmark = [pytest.mark.conformance, pytest.mark.cluster]


METRIC = re.compile(r"\b(?:penstock|kafka)_[a-z_]+")
PARTS = re.compile(r"_(bucket|sum|count)$")


def expressions() -> list[str]:
    """What the dashboard of brokers and the alert rules for them ask."""
    panels = json.loads((DEPLOY / "grafana" / "brokers.json").read_text())["panels"]
    (group,) = yaml.safe_load((DEPLOY / "prometheus" / "brokers.yml").read_text())["groups"]
    shown = [target["expr"] for panel in panels for target in panel["targets"]]
    return shown + [rule["expr"] for rule in group["rules"]]


def test_a_brokers_page_is_the_table(tmp_path: pathlib.Path) -> None:
    port = free_row(1)
    settings = {"penstock.metrics.port": str(port)}
    with (
        local_cluster(tmp_path, brokers=1, settings=settings),
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer,
    ):
        page = answer.read().decode()
    check_page(page)
    shown = set(re.findall(r"^# TYPE (\w+) ", page, re.MULTILINE))
    wanted = {name for names in guide().values() for name in names}
    assert len(wanted) > 30
    assert wanted <= shown
    asked_for = expressions()
    assert len(asked_for) > 50
    for expression in asked_for:
        for name in METRIC.findall(expression):
            assert name in shown or PARTS.sub("", name) in shown, expression
    samples = {
        sample.name: sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }
    asked = samples["kafka_server_zookeeperclientmetrics_zookeeperrequestlatencyms_count"]
    took_ms = samples["kafka_server_zookeeperclientmetrics_zookeeperrequestlatencyms_sum"]
    assert asked > 10
    assert 0 < took_ms < asked * 60_000
    assert samples["kafka_controller_kafkacontroller_activecontrollercount"] == 1
