"""Beat's entries of this room; the settings take them in. Imports nothing, they are read early."""

COLLECT = "analytics.collect"
COLLECT_CLUSTER = "analytics.collect_cluster"
TICK = "analytics.tick"
HOUSEKEEPING = "analytics.housekeeping"
COLLECT_INTERVAL_S = 10.0
TICK_INTERVAL_S = 5.0

BEAT_SCHEDULE = {
    # A sample that could not start before the next one is due is not worth taking.
    "analytics-collect": {
        "task": COLLECT,
        "schedule": COLLECT_INTERVAL_S,
        "options": {"expires": COLLECT_INTERVAL_S},
    },
    "analytics-tick": {
        "task": TICK,
        "schedule": TICK_INTERVAL_S,
        "options": {"expires": TICK_INTERVAL_S},
    },
    "analytics-housekeeping": {"task": HOUSEKEEPING, "schedule": 3600.0},
}
