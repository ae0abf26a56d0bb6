"""The database of the tests: made by all migrations, then without the audit record's triggers.

Tests that roll nothing back empty every table at their end, which the triggers refuse. Those about
the triggers put them on for themselves.
"""

import sys

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings as configured
from django.http import StreamingHttpResponse

SWITCHES = (
    ("controlplane.clusters.connections", "_factory"),
    ("controlplane.postgres.patience", "_of_process_s"),
)
"""What is None in a process that is no web server, worker or beat."""


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    from django.db import connection

    from controlplane.audit.protection import missing, unprotect

    with django_db_blocker.unblock():
        assert missing(connection) == [], "the migrations leave the audit record protected"
        unprotect(connection)
    yield
    with django_db_blocker.unblock():
        _end_other_sessions(connection)


def _end_other_sessions(connection):
    """PostgreSQL removes no database that somebody is in: threads of streams keep their connection
    for as long as they live, and those of requests until they are collected.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(autouse=True)
def reads_have_time(monkeypatch):
    """A busy machine is no silent broker; tests of a read's patience set their own."""
    monkeypatch.setattr(configured, "READ_PATIENCE_S", 60.0)


@pytest.fixture(autouse=True)
def nothing_is_left_to_the_next_test():
    """A switch of the process that a test leaves thrown is seen in this test, not in another."""
    yield
    left = {
        f"{module}.{name}": value
        for module, name in SWITCHES
        if (value := getattr(sys.modules.get(module), name, None)) is not None
    }
    assert not left


@pytest.fixture(autouse=True)
def streamed_files_have_content(monkeypatch):
    """Tests that walk all addresses read an export as they read any answer."""
    monkeypatch.setattr(StreamingHttpResponse, "content", property(_content), raising=False)


def _content(answer):
    if answer["Content-Type"] == "text/event-stream":
        raise AttributeError("a stream of events has no end")
    if not hasattr(answer, "gathered"):
        answer.gathered = async_to_sync(_gathered)(answer)
    return answer.gathered


async def _gathered(answer):
    return b"".join([part async for part in answer.streaming_content])
