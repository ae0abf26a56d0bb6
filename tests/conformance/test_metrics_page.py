"""A whole broker's metrics page shows what `deploy/METRICS.md` lists, no more and no less."""

import pathlib
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.local_cluster import local_cluster
from tests.metrics_table import check_page
from tests.ports import free_row

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]


def test_a_brokers_page_is_the_table(tmp_path: pathlib.Path) -> None:
    port = free_row(1)
    settings = {"penstock.metrics.port": str(port)}
    with (
        local_cluster(tmp_path, brokers=1, settings=settings),
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer,
    ):
        page = answer.read().decode()
    check_page(page)
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
