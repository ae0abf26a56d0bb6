"""The dashboard of brokers speaks of metrics, and of labels of theirs, that there are."""

import json
import re

import pytest

from deploy.local.config import REPOSITORY
from tests.metrics_table import listed

DASHBOARD = json.loads((REPOSITORY / "deploy" / "grafana" / "brokers.json").read_text())
TARGETS = [target for panel in DASHBOARD["panels"] for target in panel["targets"]]
METRIC = re.compile(r"\b(?:penstock|kafka)_[a-z_]+")
PARTS = re.compile(r"_(bucket|sum|count)$")
ROWS = listed()
# Each of these has a panel of its own: what an operator of many tenants has to see.
WANTED = {
    "quotas": "penstock_quota_throttles_total",
    "transactions": "penstock_transactions_awaiting_markers",
    "certificates": "penstock_tls_certificate_expiry_timestamp_seconds",
    "groups": "kafka_coordinator_group_groupmetadatamanager_numgroupsstable",
    "limits": "penstock_refused_connections_total",
}


def named(expression):
    return {name if name in ROWS else PARTS.sub("", name) for name in METRIC.findall(expression)}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target["expr"][:60])
def test_an_expression_is_about_metrics_and_labels_that_are_listed(target):
    expression = target["expr"]
    metrics = named(expression)
    assert metrics
    assert metrics <= ROWS.keys()
    known = {"le"}.union(*(ROWS[name].labels for name in metrics))
    kept = {
        label
        for text in re.findall(r"by \((.*?)\)", expression)
        for label in re.findall(r"\w+", text)
    }
    assert kept <= known
    assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= kept


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target["expr"][:60])
def test_what_only_grows_is_shown_as_a_rate_and_nothing_else_is(target):
    for name in METRIC.findall(target["expr"]):
        kind = ROWS[name if name in ROWS else PARTS.sub("", name)].kind
        assert (f"rate({name}" in target["expr"]) == (kind != "gauge"), name


@pytest.mark.parametrize("name", WANTED.values(), ids=WANTED)
def test_what_has_to_be_seen_is_shown(name):
    assert any(name in named(target["expr"]) for target in TARGETS)


def test_panels_do_not_lie_over_each_other():
    cells = [
        (panel["gridPos"]["x"] + dx, panel["gridPos"]["y"])
        for panel in DASHBOARD["panels"]
        for dx in range(panel["gridPos"]["w"])
    ]
    assert len(cells) == len(set(cells))
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
