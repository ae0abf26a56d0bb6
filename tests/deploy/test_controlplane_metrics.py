"""Alert rules, the dashboard and the runbooks speak of metrics and files that there are."""

import json
import re

import pytest
import yaml

from deploy.local.config import REPOSITORY
from tests.metrics_table import CONTROL_PLANE, listed

DEPLOY = REPOSITORY / "deploy"
METRIC = re.compile(r"\bpenstock_[a-z_]+")
PARTS = re.compile(r"_(bucket|sum|count)$")
(GROUP,) = yaml.safe_load((DEPLOY / "prometheus" / "controlplane.yml").read_text())["groups"]
DASHBOARD = json.loads((DEPLOY / "grafana" / "controlplane.json").read_text())


def unknown(text):
    return {PARTS.sub("", name) for name in METRIC.findall(text)} - listed(CONTROL_PLANE).keys()


@pytest.mark.parametrize("rule", GROUP["rules"], ids=lambda rule: rule["alert"])
def test_an_alert_is_about_a_metric_that_is_listed_and_has_its_line_in_a_runbook(rule):
    assert METRIC.search(rule["expr"])
    assert not unknown(rule["expr"])
    assert rule["labels"]["severity"] in {"page", "ticket"}
    runbook = REPOSITORY / rule["annotations"]["runbook"]
    assert f"`{rule['alert']}`" in runbook.read_text()
    assert runbook.name in (DEPLOY / "runbooks" / "README.md").read_text()


@pytest.mark.parametrize("rule", GROUP["rules"], ids=lambda rule: rule["alert"])
def test_an_alert_goes_by_labels_that_its_metrics_have_and_shows_those_that_are_left(rule):
    rows = listed(CONTROL_PLANE)
    metrics = {PARTS.sub("", name) for name in METRIC.findall(rule["expr"])}
    known = {"le"}.union(*(rows[name].labels for name in metrics))
    kept = [set(re.findall(r"\w+", text)) for text in re.findall(r"by \((.*?)\)", rule["expr"])]
    chosen = {
        name
        for text in re.findall(r"\{(.*?)\}", rule["expr"])
        for name in re.findall(r"(\w+)\s*[=!]", text)
    }
    assert chosen.union(*kept) <= known
    shown = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
    assert shown <= set().union(*kept)


def test_a_runbook_speaks_of_alerts_and_metrics_that_there_are():
    alerts = {rule["alert"] for rule in GROUP["rules"]}
    for name in ("operations-wait.md", "cluster-away.md"):
        text = (DEPLOY / "runbooks" / name).read_text()
        assert set(re.findall(r"`(Penstock\w+)`", text)) <= alerts
        assert not unknown(text)


def test_the_dashboard_shows_every_metric_that_all_processes_share():
    shown = " ".join(target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"])
    assert not unknown(shown)
    left_out = listed(CONTROL_PLANE).keys() - {
        PARTS.sub("", name) for name in METRIC.findall(shown)
    }
    assert left_out == {"penstock_streams_ended_total", "penstock_streams_open"}


def test_panels_do_not_lie_over_each_other():
    cells = [
        (panel["gridPos"]["x"] + dx, panel["gridPos"]["y"])
        for panel in DASHBOARD["panels"]
        for dx in range(panel["gridPos"]["w"])
    ]
    assert len(cells) == len(set(cells))
