"""What `deploy/METRICS.md` lists, for the tests that hold it against pages."""

import re
from pathlib import Path
from typing import NamedTuple

from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from dataplane.broker.metrics import Metrics
from dataplane.server.exposition import Exposition

TABLE = Path(__file__).resolve().parents[1] / "deploy" / "METRICS.md"
ROW = re.compile(r"\| `(\w+)` \| (gauge|counter|histogram)((?:,? ?`\w+`)*) \| (.*?) \|")


class Row(NamedTuple):
    kind: str
    labels: frozenset[str]
    note: str
    """Kafka's MBean, or what it is where Kafka has none."""


def sample(metrics: Metrics, name: str, labels: dict[str, str] | None = None) -> float | None:
    """What a scrape says now; None where it says nothing."""
    registry = CollectorRegistry()
    registry.register(Exposition(metrics.snapshot()))
    return registry.get_sample_value(name, labels)


def page(metrics: Metrics) -> str:
    """What a scrape of the page gets."""
    return Exposition(metrics.snapshot()).text().decode()


BROKER, CONTROL_PLANE = "a broker", "the control plane"
"""Whose metrics the file lists, as its headings say it."""


def listed(whose: str = BROKER) -> dict[str, Row]:
    """The rows by the metric's name."""
    _, part = TABLE.read_text().split(f"# Metrics of {whose}\n")
    return {
        name: Row(kind, frozenset(re.findall(r"\w+", labels)), note)
        for name, kind, labels, note in ROW.findall(part.partition("\n# ")[0])
    }


def guide() -> dict[str, list[str]]:
    """Which metrics the file names for what an operator wants to see."""
    _, part = TABLE.read_text().split("## What to look at for what\n")
    rows = [line for line in part.partition("\n## ")[0].splitlines() if "`" in line]
    return {
        row.split("|")[1].strip(): re.findall(r"`((?:kafka|penstock)_\w+)`", row) for row in rows
    }


def check_page(page: str) -> None:
    """Names, types and labels; a metric without a sample yet has its labels in the table alone."""
    rows, shown = listed(), {}
    for family in text_string_to_metric_families(page):
        name = family.name + "_total" * (family.type == "counter")
        shown[name] = family.type
        for sample in family.samples:
            assert sample.labels.keys() - {"le"} == rows[name].labels, sample
    assert shown == {name: row.kind for name, row in rows.items()}
