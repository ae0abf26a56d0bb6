"""What beat sends, and how often; those with a setting of their own by the environment."""

from typing import Any

import environ

Rows = dict[str, dict[str, Any]]


def beat_schedule(env: environ.Env, *, sweep_s: float, observe_s: float, alerts_s: float) -> Rows:
    """As Celery's `beat_schedule`; the intervals are of sweeps, observation, and alerts."""
    return {
        **_of_operations(env, sweep_s),
        **_of_clusters(env, observe_s),
        **_of_notices(env, alerts_s),
        **_of_upkeep(),
    }


def _of_operations(env: environ.Env, sweep_s: float) -> Rows:
    return {
        "operations-sweep": {
            "task": "operations.sweep",
            "schedule": sweep_s,
            "options": {"expires": 5},
        },
        "outbox-drain": {
            "task": "operations.drain_outbox",
            "schedule": 5.0,
            "options": {"expires": 5},
        },
        "throttle-leases": {
            "task": "reassignments.release_expired",
            "schedule": 15.0,
            # Their operations died or could not: these clusters may well not answer.
            "options": {"expires": 15, "queue": "operations.slow"},
        },
        "password-overlaps": {
            "task": "access.end_overlaps",
            "schedule": env.float("PENSTOCK_OVERLAPS_S", default=5.0),
            "options": {"expires": 5},
        },
        "retention-leases": {
            "task": "topics.end_retention_leases",
            "schedule": env.float("PENSTOCK_RETENTION_LEASES_S", default=5.0),
            "options": {"expires": 5},
        },
        "housekeeping": {"task": "operations.housekeeping", "schedule": 300.0},
    }


def _of_clusters(env: environ.Env, observe_s: float) -> Rows:
    return {
        "observed-due": {
            "task": "observed.due",
            "schedule": min(max(observe_s / 3, 1.0), 5.0),
            "options": {"expires": 5},
        },
        "certificates": {
            "task": "clusters.renew_certificates",
            "schedule": env.float("PENSTOCK_CERTIFICATES_S", default=3600.0),
            "options": {"expires": 3600},
        },
        "owed-deletions": {
            "task": "clusters.settle_owed",
            "schedule": 15.0,
            "options": {"expires": 15},
        },
        # Both ask clusters that may well not answer.
        "host-drains": {
            "task": "healing.drain",
            "schedule": env.float("PENSTOCK_DRAINS_S", default=5.0),
            "options": {"expires": 5, "queue": "operations.slow"},
        },
        "self-healing": {
            "task": "healing.heal",
            "schedule": env.float("PENSTOCK_HEALING_S", default=10.0),
            "options": {"expires": 10, "queue": "operations.slow"},
        },
        "drift": {
            "task": "drift.due",
            "schedule": env.float("PENSTOCK_DRIFT_S", default=10.0),
            "options": {"expires": 10},
        },
        "scheduled-rebalances": {
            "task": "reassignments.rebalance",
            "schedule": env.float("PENSTOCK_REBALANCES_S", default=30.0),
            "options": {"expires": 30, "queue": "operations.slow"},
        },
        "removed-clusters": {
            "task": "clusters.forget_removed",
            "schedule": 3600.0,
            "options": {"expires": 3600},
        },
    }


def _of_notices(env: environ.Env, alerts_s: float) -> Rows:
    return {
        "notifications": {
            "task": "notifications.send_due",
            "schedule": env.float("PENSTOCK_NOTIFICATIONS_S", default=2.0),
            "options": {"expires": 5},
        },
        "notifications-tidy": {
            "task": "notifications.tidy",
            "schedule": 300.0,
            "options": {"expires": 300},
        },
        "alerts-evaluate": {
            "task": "alerts.evaluate",
            "schedule": alerts_s,
            "options": {"expires": alerts_s},
        },
        "alerts-housekeeping": {
            "task": "alerts.housekeeping",
            "schedule": 3600.0,
            "options": {"expires": 3600},
        },
    }


def _of_upkeep() -> Rows:
    return {
        "sessions": {
            "task": "tenants.clear_sessions",
            "schedule": 3600.0,
            "options": {"expires": 3600},
        },
        "timeline-housekeeping": {"task": "timeline.housekeeping", "schedule": 3600.0},
        "runbook-runs": {
            "task": "runbooks.housekeeping",
            "schedule": 3600.0,
            "options": {"expires": 3600},
        },
    }
