"""Beat's entries of this app. The settings take them in, so no Django is imported here."""

from spark_analytics.contracts.telemetry import SAMPLE_INTERVAL_S

COLLECT = "analytics.collect"
COLLECT_CLUSTER = "analytics.collect_cluster"
TICK = "analytics.tick"
HOUSEKEEPING = "analytics.housekeeping"
TICK_INTERVAL_S = 5.0

BEAT_SCHEDULE = {
    # A sample that could not start before the next one is due is not worth taking.
    "analytics-collect": {
        "task": COLLECT,
        "schedule": SAMPLE_INTERVAL_S,
        "options": {"expires": SAMPLE_INTERVAL_S},
    },
    "analytics-tick": {
        "task": TICK,
        "schedule": TICK_INTERVAL_S,
        "options": {"expires": TICK_INTERVAL_S},
    },
    "analytics-housekeeping": {"task": HOUSEKEEPING, "schedule": 3600.0},
}
