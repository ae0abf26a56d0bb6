"""What of the database a backup keeps, and what a restore demands. Pure."""

from collections.abc import Mapping, Sequence

# Everything is kept but these; each with the reason why it must or may be missing.
LEFT_OUT = {
    "sessions.session": "a session that was ended since would be open again",
    "contenttypes.contenttype": "migrations make it",
    "auth.permission": "migrations make it",
    "clusters.ensemble": "the first session keeps the one that it finds",
    "observed.observedcluster": "the next pass observes it again",
    "observed.observedbroker": "the next pass observes it again",
    "observed.observedtopic": "the next pass observes it again",
    "observed.observedgroup": "the next pass observes it again",
    "observed.observeduser": "the next pass observes it again",
    "observed.observedacl": "the next pass observes it again",
    "drift.driftlook": "the next look reads it again",
    "analytics.throughputstate": "the next samples measure again; history is the rollups'",
    "analytics.throughputlayout": "the next samples measure again; history is the rollups'",
    "analytics.throughputblock": "the next samples measure again; history is the rollups'",
    "operations.outboxmessage": "the sweep asks for every tick that is due",
    "django_celery_beat.clockedschedule": "beat writes its schedule from the settings",
    "django_celery_beat.crontabschedule": "beat writes its schedule from the settings",
    "django_celery_beat.intervalschedule": "beat writes its schedule from the settings",
    "django_celery_beat.periodictask": "beat writes its schedule from the settings",
    "django_celery_beat.periodictasks": "beat writes its schedule from the settings",
    "django_celery_beat.solarschedule": "beat writes its schedule from the settings",
}
SHOWN_MAX = 5


def migrations_differ(
    of_backup: Mapping[str, Sequence[str]], of_database: Mapping[str, Sequence[str]]
) -> str:
    """Why the two schemas are not the same, in one line; empty when they are."""
    only_there = _named(of_backup) - _named(of_database)
    only_here = _named(of_database) - _named(of_backup)
    parts = []
    if only_there:
        parts.append(f"the backup has {_few(only_there)} and this release has not")
    if only_here:
        parts.append(f"this release has {_few(only_here)} and the backup has not")
    return "; ".join(parts)


def _named(migrations: Mapping[str, Sequence[str]]) -> set[str]:
    return {f"{app}.{name}" for app, names in migrations.items() for name in names}


def _few(names: set[str]) -> str:
    shown = sorted(names)[:SHOWN_MAX]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
