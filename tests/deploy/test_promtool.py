"""Prometheus's own tool on what is deployed: the scrape configuration, and each alert rule, which
must fire on the series made for it and be silent on those beside it.
"""

import json
import re
import shutil
import subprocess

import pytest
import yaml

from deploy.local.config import REPOSITORY

PROMETHEUS = REPOSITORY / "deploy" / "prometheus"
RULE_FILES = [PROMETHEUS / name for name in ("controlplane.yml", "brokers.yml")]
RULES = {
    rule["alert"]: (file, rule)
    for file in RULE_FILES
    for group in yaml.safe_load(file.read_text())["groups"]
    for rule in group["rules"]
}
HOURS = 4
pytestmark = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed (Debian: prometheus)"
)


def steady(value):
    return f"{value}+0x{60 * HOURS}"


def rising(per_minute):
    return f"0+{per_minute}x{60 * HOURS}"


def one(name, fires, silent, labels="", of=steady):
    """The same series, with a value on which the alert fires and one on which it does not."""
    return tuple({f"{name}{{{labels}}}": of(value)} for value in (fires, silent))


def calls(ok, unanswered, busy=0):
    """Per minute."""
    return {
        f'penstock_gateway_calls_total{{cluster="kc_1",outcome="{outcome}"}}': rising(count)
        for outcome, count in (("ok", ok), ("no-answer", unanswered), ("busy", busy))
    }


def durations(quick, all_of_them):
    """Questions that took at most 5 s, and those that took at most 10 s, per minute."""
    name = 'penstock_gateway_call_seconds_bucket{cluster="kc_1",le="%s"}'
    return {
        name % "5": rising(quick),
        name % "10": rising(all_of_them),
        name % "+Inf": rising(all_of_them),
    }


BROKER = 'job="penstock-brokers",instance="b1"'
CONTROLLER = "kafka_controller_kafkacontroller"
REPLICAS = "kafka_server_replicamanager"


def brokers(name, fires, silent, of=steady):
    """As `one`, of two brokers of a cluster."""
    return tuple(
        {
            f'{name}{{job="penstock-brokers",instance="b{number}"}}': of(value)
            for number, value in enumerate(values)
        }
        for values in (fires, silent)
    )


def requests(bound_ms, within, all_of_them):
    """Produce requests per minute, and how many of them took at most so long."""
    name = f'kafka_network_requestmetrics_totaltimems_bucket{{{BROKER},request="Produce",le="%s"}}'
    return {
        name % bound_ms: rising(within),
        name % "2500": rising(all_of_them),
        name % "+Inf": rising(all_of_them),
    }


def disk(usable):
    """Of 100 bytes."""
    labels = f'{BROKER},dir="/data"'
    return {
        f"penstock_log_dir_usable_bytes{{{labels}}}": steady(usable),
        f"penstock_log_dir_total_bytes{{{labels}}}": steady(100),
    }


DAY_S = 86_400
OLDEST, CERTIFICATE = "penstock_oldest_due_operation_seconds", "penstock_certificate_left_seconds"
# Series on which it fires, series on which it is silent.
CASES = {
    "PenstockOperationsWait": one(OLDEST, 31, 30, 'queue="celery"'),
    "PenstockSlowOperationsWait": one(OLDEST, 601, 600, 'queue="operations.slow"'),
    "PenstockQueueAge": one("penstock_queue_age_seconds", 31, 30, 'queue="celery"'),
    "PenstockOutboxAge": one("penstock_outbox_age_seconds", 31, 30),
    "PenstockNotificationsWait": one(
        "penstock_oldest_due_delivery_seconds", 601, 600, 'kind="email"'
    ),
    "PenstockAlertRoundsStall": one("penstock_alert_round_age_seconds", 61, 60),
    "PenstockAlertRulesFail": one("penstock_alert_failed_tenants", 1, 0),
    "PenstockSweepLag": one("penstock_sweep_lag_seconds", 31, 30),
    "PenstockMetricsSourceDown": one("penstock_metrics_source_up", 0, 1, 'source="redis"'),
    "PenstockLeaseLosses": one("penstock_leases_lost_total", 0.5, 0.2, of=rising),
    "PenstockClusterAway": one(
        "penstock_gateway_breaker_state", 0, 1, 'cluster="kc_1",state="closed"'
    ),
    "PenstockGatewayErrors": (calls(ok=70, unanswered=30), calls(ok=90, unanswered=10)),
    "PenstockGatewaySlow": (durations(50, 100), durations(99, 100)),
    "PenstockCollectorLag": one("penstock_collector_lag_seconds", 301, 300, 'cluster="kc_1"'),
    "PenstockSeriesDropped": one("penstock_series_dropped_total", 1, 0, of=rising),
    "PenstockTenantsAtTheirBounds": one(
        "penstock_tasks_put_back_total", 301, 299, 'queue="celery"', of=rising
    ),
    "PenstockCertificateEnding": one(CERTIFICATE, 19 * DAY_S, 20 * DAY_S),
    "PenstockCertificateEnds": one(CERTIFICATE, 2 * DAY_S, 3 * DAY_S),
    "PenstockPasswordOverlapOverdue": one(
        "penstock_password_overlaps_overdue", 1, 0, 'state="held"'
    ),
    "PenstockRetentionLeaseOverdue": one("penstock_retention_leases_overdue", 1, 0),
    "PenstockBrokerPageAway": one("up", 0, 1, BROKER),
    "PenstockNoActiveController": brokers(f"{CONTROLLER}_activecontrollercount", (0, 0), (0, 1)),
    "PenstockManyControllers": brokers(f"{CONTROLLER}_activecontrollercount", (1, 1), (0, 1)),
    "PenstockOfflinePartitions": brokers(f"{CONTROLLER}_offlinepartitionscount", (0, 1), (0, 0)),
    "PenstockUnderMinIsr": brokers(f"{REPLICAS}_underminisrpartitioncount", (0, 1), (0, 0)),
    "PenstockUncleanElections": brokers(
        "kafka_controller_controllerstats_uncleanleaderelections_total", (0, 1), (0, 0), of=rising
    ),
    "PenstockUnderReplicated": one(f"{REPLICAS}_underreplicatedpartitions", 1, 0, BROKER),
    "PenstockIsrShrinks": brokers(f"{REPLICAS}_isrshrinks_total", (0, 1), (0, 0), of=rising),
    "PenstockRequestsSlow": (requests("1000", 90, 100), requests("1000", 100, 100)),
    "PenstockRequestsFail": one("penstock_failed_requests_total", 1, 0, BROKER, of=rising),
    "PenstockDiskFilling": (disk(14), disk(16)),
    "PenstockDiskFull": (disk(4), disk(6)),
    "PenstockLogDirectoryFailed": one(
        "kafka_log_logmanager_offlinelogdirectorycount", 1, 0, BROKER
    ),
    "PenstockLateTransactions": one(
        f"{REPLICAS}_partitionswithlatetransactionscount", 1, 0, BROKER
    ),
    # Time begins at 0 in promtool's tests.
    "PenstockBrokerCertificateEnds": one(
        "penstock_tls_certificate_expiry_timestamp_seconds",
        7 * DAY_S,
        8 * DAY_S,
        f'{BROKER},listener="SSL"',
    ),
    "PenstockAuditLogFails": one("penstock_audit_write_failures_total", 1, 0, BROKER, of=rising),
    "PenstockAuditLinesHeldBack": one(
        "penstock_audit_lines_suppressed_total", 1, 0, BROKER, of=rising
    ),
}


def kept_labels(expression):
    """The labels of what an alert is about: those that it goes by, or those of its series."""
    if expression.startswith("up{"):
        return ("job", "instance")
    outermost = re.search(r"by \((.*?)\)", expression)
    by = outermost[1] if outermost else ""
    return tuple(name for name in re.findall(r"\w+", by) if name != "le")


def promtool(*arguments):
    done = subprocess.run(
        ["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_scrape_configuration_and_its_rules_are_prometheuss(tmp_path):
    """The token's file is the operator's, and is there on their host alone."""
    written = (PROMETHEUS / "prometheus.yml").read_text()
    (token,) = {
        job["authorization"]["credentials_file"]
        for job in yaml.safe_load(written)["scrape_configs"]
        if "authorization" in job
    }
    here = tmp_path / "token"
    here.write_text("secret")
    (tmp_path / "prometheus.yml").write_text(written.replace(token, str(here)))
    for file in RULE_FILES:
        shutil.copy(file, tmp_path)
    promtool("check", "config", tmp_path / "prometheus.yml")


def test_every_alert_has_its_series():
    assert CASES.keys() == RULES.keys()


@pytest.mark.parametrize("alert", CASES)
def test_an_alert_fires_on_what_it_is_for_and_on_nothing_beside_it(alert, tmp_path):
    file, rule = RULES[alert]
    fires, silent = CASES[alert]
    kept = {"severity": rule["labels"]["severity"]}
    for label in kept_labels(rule["expr"]):
        kept[label] = next(iter(fires)).partition(f'{label}="')[2].partition('"')[0]
    labels = ", ".join(
        f'{name}="{value}"'
        for name, value in {"alertname": alert, "alertstate": "firing", **kept}.items()
    )
    tests = [
        {
            "interval": "1m",
            "input_series": [
                {"series": name.removesuffix("{}"), "values": values}
                for name, values in series.items()
            ],
            "promql_expr_test": [
                {
                    "expr": f'ALERTS{{alertname="{alert}", alertstate="firing"}}',
                    "eval_time": f"{HOURS}h",
                    "exp_samples": [{"labels": f"ALERTS{{{labels}}}", "value": 1}] * is_firing,
                }
            ],
        }
        for series, is_firing in ((fires, True), (silent, False))
    ]
    written = tmp_path / "tests.yml"
    # What is JSON is YAML.
    written.write_text(
        json.dumps({"rule_files": [str(file)], "evaluation_interval": "1m", "tests": tests})
    )
    promtool("test", "rules", written)
