"""What the service's processes log, to where: `settings.LOGGING`. No Django is imported here."""

from typing import Any


def log_lines(level: str) -> dict[str, Any]:
    """Python's logging configuration: lines of this level and above, fewer of libraries."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # It writes lines at each of its own tries; the error itself comes back to the caller,
            # and `gateway.breakers` writes one line a minute about a cluster that does not answer.
            "kafka": {"level": "CRITICAL"},
            # As Kafka's: a line at each of its tries. `clusters.hosts` writes one a minute.
            "kazoo": {"level": "CRITICAL"},
            # One line per task and tick says nothing; failures are errors and stay.
            "celery.app.trace": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.beat": {"level": "WARNING"},
            "django_celery_beat": {"level": "WARNING"},
        },
    }
