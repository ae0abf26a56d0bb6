"""The metrics page over its socket, and what is measured for it."""

import asyncio
import functools
import subprocess
import sys

import pytest
from prometheus_client.parser import text_string_to_metric_families

from dataplane.broker.metrics import Metrics
from dataplane.server.metrics_page import REQUEST_BYTES_MAX, MetricsPage
from dataplane.wire.messages.list_groups import ListGroupsRequest
from tests.dataplane.handlers.one_broker import OneBroker
from tests.metrics_table import page as page_of
from tests.metrics_table import sample
from tests.ports import free_row


@pytest.fixture
async def page():
    """Gives its metrics and port."""
    metrics, port = Metrics(), free_row(1)
    page = MetricsPage(metrics, port)
    await page.open()
    yield metrics, port
    page.close()


async def ask(port: int, request: bytes) -> tuple[str, str]:
    """The answer's head and body; both empty when the connection is closed without one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = (await asyncio.wait_for(reader.read(), 10)).decode()
    writer.close()
    head, _, body = answer.partition("\r\n\r\n")
    return head, body


async def test_a_scrape_reads_the_counters(page) -> None:
    metrics, port = page
    metrics.bad_frames.inc(3)
    metrics.count_refused_batch("CORRUPT_MESSAGE")
    head, body = await ask(port, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    assert head.startswith("HTTP/1.0 200 OK")
    assert "Content-Type: text/plain; version=0.0.4; charset=utf-8" in head
    assert f"Content-Length: {len(body)}" in head
    families = {family.name: family for family in text_string_to_metric_families(body)}
    assert families["penstock_bad_frames"].samples[0].value == 3
    (refused,) = families["penstock_refused_batches"].samples
    assert (refused.labels, refused.value) == ({"error": "CORRUPT_MESSAGE"}, 1)
    assert not [name for name in families if name.endswith("_created")]


async def test_another_path_is_not_found(page) -> None:
    head, body = await ask(page[1], b"GET /secrets HTTP/1.1\r\n\r\n")
    assert head.startswith("HTTP/1.0 404 Not Found")
    assert body == "only /metrics is here\n"


async def test_an_endless_request_is_closed(page) -> None:
    assert await ask(page[1], b"x" * (REQUEST_BYTES_MAX + 1)) == ("", "")


async def test_requests_that_run_as_a_task_are_timed_by_api() -> None:
    broker = OneBroker()
    for _ in range(2):
        await broker.ask(ListGroupsRequest(), 4)
    read = functools.partial(sample, broker.metrics)
    api = {"request": "ListGroups"}
    assert read("kafka_network_requestmetrics_totaltimems_count", api) == 2
    assert 0 < read("kafka_network_requestmetrics_totaltimems_sum", api) < 10_000
    assert read("kafka_network_requestmetrics_totaltimems_bucket", {**api, "le": "+Inf"}) == 2
    assert read("kafka_network_requestmetrics_requests_total", api) == 2
    await broker.stop()


def test_a_histogram_has_every_bound_in_the_bucket_below_it() -> None:
    metrics = Metrics()
    for took_ms in (0, 1, 1.1, 2.5, 30_000, 30_001):
        metrics.zookeeper_times.observe(took_ms)
    times = "kafka_server_zookeeperclientmetrics_zookeeperrequestlatencyms"
    read = functools.partial(sample, metrics)
    assert {
        le: read(f"{times}_bucket", {"le": le}) for le in ("1.0", "2.5", "30000.0", "+Inf")
    } == {
        "1.0": 2,
        "2.5": 4,
        "30000.0": 5,
        "+Inf": 6,
    }
    assert read(f"{times}_sum") == 60_005.6
    assert read(f"{times}_count") == 6
    assert "_created" not in page_of(metrics)


def test_a_broker_without_the_page_imports_nothing_that_only_others_need() -> None:
    """Together they would be a tenth of an idle broker's memory."""
    program = (
        "import sys; from dataplane.__main__ import main;"
        "code = main(['broker', '--check', '--set', 'broker.id=0',"
        "             '--set', 'zookeeper.connect=127.0.0.1:1']);"
        "import dataplane.compose.broker_process;"
        "print(code, sorted({'prometheus_client', 'http', 'shutil'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "0 []\n", done.stderr
