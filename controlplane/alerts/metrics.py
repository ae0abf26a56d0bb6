"""What `/metrics` shows of alerts, from the database: the same from every web process."""

from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily, Metric

from controlplane.alerts.evaluation import ROW
from controlplane.alerts.models import Evaluator
from controlplane.alerts.selectors import raised_by_rule


def from_database() -> list[Metric]:
    """Without a round so far nothing is known, and only what is raised is shown."""
    raised = GaugeMetricFamily(
        "penstock_alerts_raised",
        "Alerts that fire or are acknowledged, of all tenants and the operators.",
        labels=["rule", "severity"],
    )
    for (rule, severity), count in sorted(raised_by_rule().items()):
        raised.add_metric([rule, severity], count)
    age = GaugeMetricFamily(
        "penstock_alert_round_age_seconds", "How long ago the last round over all rules ended."
    )
    took = GaugeMetricFamily(
        "penstock_alert_round_seconds", "How long the last round over all rules took."
    )
    failed = GaugeMetricFamily(
        "penstock_alert_failed_tenants", "Tenants whose rules the last round could not evaluate."
    )
    unknown = GaugeMetricFamily(
        "penstock_alert_facts_unknown",
        "Clusters and subjects of which the last round knew nothing, by rule.",
        labels=["rule"],
    )
    row = Evaluator.objects.filter(pk=ROW).first()
    if row is not None and row.finished_at is not None:
        age.add_metric([], max(0.0, (timezone.now() - row.finished_at).total_seconds()))
        took.add_metric([], row.took_ms / 1000)
        failed.add_metric([], row.failed_tenants)
        for rule, count in sorted(row.unknown.items()):
            unknown.add_metric([rule], count)
    return [raised, age, took, failed, unknown]
