"""Alert rules for brokers speak of metrics, labels and sections of runbooks that there are."""

import re

import pytest
import yaml

from deploy.local.config import REPOSITORY
from tests.metrics_table import listed

DEPLOY = REPOSITORY / "deploy"
(GROUP,) = yaml.safe_load((DEPLOY / "prometheus" / "brokers.yml").read_text())["groups"]
RULES = GROUP["rules"]
RUNBOOKS = sorted({rule["annotations"]["runbook"].partition("#")[0] for rule in RULES})
METRIC = re.compile(r"\b(?:penstock|kafka)_[a-z_]+")
PARTS = re.compile(r"_(bucket|sum|count)$")
ROWS = listed()
OF_EVERY_TARGET = {"job", "instance", "le"}
# Each has an alert of its own: what an operator must not have to look for.
WANTED = {
    "offline partitions": "kafka_controller_kafkacontroller_offlinepartitionscount",
    "under-replicated": "kafka_server_replicamanager_underreplicatedpartitions",
    "under min ISR": "kafka_server_replicamanager_underminisrpartitioncount",
    "controller": "kafka_controller_kafkacontroller_activecontrollercount",
    "ISR shrinks": "kafka_server_replicamanager_isrshrinks_total",
    "unclean elections": "kafka_controller_controllerstats_uncleanleaderelections_total",
    "latency": "kafka_network_requestmetrics_totaltimems",
    "disk": "penstock_log_dir_usable_bytes",
    "late transactions": "kafka_server_replicamanager_partitionswithlatetransactionscount",
    "certificates": "penstock_tls_certificate_expiry_timestamp_seconds",
    "audit log": "penstock_audit_write_failures_total",
}
by_alert = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])


def named(text):
    return {name if name in ROWS else PARTS.sub("", name) for name in METRIC.findall(text)}


def anchors(text):
    """The fragments by which headings of a Markdown file are linked to."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}


@by_alert
def test_an_alert_is_about_metrics_and_labels_that_a_broker_has(rule):
    expression = rule["expr"]
    if expression.startswith("up{"):
        return  # Prometheus's own
    metrics = named(expression)
    assert metrics
    assert metrics <= ROWS.keys()
    kept = {
        name
        for text in re.findall(r"by \((.*?)\)", expression)
        for name in re.findall(r"\w+", text)
    }
    chosen = {
        name
        for text in re.findall(r"\{(.*?)\}", expression)
        for name in re.findall(r"(\w+)\s*=", text)
    }
    assert kept | chosen <= OF_EVERY_TARGET.union(*(ROWS[name].labels for name in metrics))
    shown = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
    assert shown <= kept


@by_alert
def test_what_only_grows_is_asked_as_a_rate_and_nothing_else_is(rule):
    for name in METRIC.findall(rule["expr"]):
        kind = ROWS[name if name in ROWS else PARTS.sub("", name)].kind
        is_rate = re.search(rf"(rate|increase)\({name}\b", rule["expr"]) is not None
        assert is_rate == (kind != "gauge"), name


@by_alert
def test_an_alert_leads_to_the_section_of_a_runbook_that_names_it(rule):
    assert rule["labels"]["severity"] in {"page", "ticket"}
    path, _, section = rule["annotations"]["runbook"].partition("#")
    text = (REPOSITORY / path).read_text()
    assert section in anchors(text)
    assert f"`{rule['alert']}`" in text
    assert f"({path.rpartition('/')[2]})" in (DEPLOY / "runbooks" / "README.md").read_text()


@pytest.mark.parametrize("path", RUNBOOKS)
def test_a_runbook_speaks_of_metrics_alerts_and_sections_that_there_are(path):
    text = (REPOSITORY / path).read_text()
    known = ROWS.keys() | listed("the control plane").keys()
    assert named(text) <= known
    alerts = {
        alert
        for name in ("brokers.yml", "controlplane.yml")
        for alert in re.findall(r"alert: (\w+)", (DEPLOY / "prometheus" / name).read_text())
    }
    assert set(re.findall(r"`(Penstock\w+)`", text)) <= alerts
    for file, section in re.findall(r"\]\(([\w-]+\.md)#?([\w-]*)\)", text):
        there = (DEPLOY / "runbooks" / file).read_text()
        assert not section or section in anchors(there), (file, section)


@pytest.mark.parametrize("name", WANTED.values(), ids=WANTED)
def test_what_must_not_be_overlooked_has_an_alert(name):
    assert any(name in named(rule["expr"]) for rule in RULES)


def test_the_rules_are_loaded():
    written = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    assert "brokers.yml" in written["rule_files"]
