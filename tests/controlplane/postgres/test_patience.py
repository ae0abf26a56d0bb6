"""A PostgreSQL that hangs is given up in time, by each for itself; commands wait for ever."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from django.db import DatabaseError, OperationalError

from controlplane.postgres import patience
from controlplane.postgres.base import DatabaseWrapper
from tests.postgres_server import PostgresServer

REPOSITORY = Path(__file__).resolve().parents[3]
LIMIT_S = 0.5
LATE_S = 5.0
"""By how much a busy machine may be late."""


@pytest.fixture(autouse=True)
def forget():
    yield
    patience.wait_at_most(None)


def test_the_shorter_limit_counts():
    assert patience.limit_s() is None
    with patience.waiting_at_most(2.0):
        assert patience.limit_s() == 2.0
        patience.wait_at_most(1.0)
        assert patience.limit_s() == 1.0
        patience.wait_at_most(3.0)
        assert patience.limit_s() == 2.0
    assert patience.limit_s() == 3.0


def test_a_block_is_of_its_thread_alone():
    found = []
    with patience.waiting_at_most(1.0):
        thread = threading.Thread(target=lambda: found.append(patience.limit_s()))
        thread.start()
        thread.join()
    assert found == [None]


SAY = "from controlplane.postgres import patience; print(patience.limit_s())"
SIGNALLED = "import controlplane.celery; from celery import signals; signals.{}.send(sender=None)"
LONG_RUNNING = {
    "web": ("import controlplane.asgi", "7.0"),
    "worker": (SIGNALLED.format("worker_init"), "8.0"),
    "beat": (SIGNALLED.format("beat_init"), "7.0"),
    "command": ("import controlplane.celery", "None"),
}


@pytest.mark.parametrize("process", LONG_RUNNING)
def test_every_long_running_process_has_its_limit(tmp_path, process):
    begin, expected = LONG_RUNNING[process]
    environment = {
        **os.environ,
        "PENSTOCK_DATA_DIR": str(tmp_path),
        "PENSTOCK_DATABASE_ANSWER_S": "7",
        "PENSTOCK_WORKER_DATABASE_ANSWER_S": "8",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"{begin}\n{SAY}"],
        env=environment,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [expected]


def test_an_address_of_postgresql_means_this_backend(tmp_path):
    script = "from django.conf import settings; print(settings.DATABASES['default']['ENGINE'])"
    environment = {
        **os.environ,
        "PENSTOCK_DATA_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "DATABASE_URL": "postgres://penstock@127.0.0.1:1/postgres",
    }
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["controlplane.postgres"]


@pytest.fixture(scope="module")
def server():
    made = PostgresServer()
    try:
        made.start()
        yield made
    finally:
        made.remove()


@pytest.fixture
def connection(server, django_db_blocker):
    """Of the product's backend; no other test's database is asked."""
    made = DatabaseWrapper(
        {
            "NAME": "postgres",
            "USER": "penstock",
            "PASSWORD": "",
            "HOST": "127.0.0.1",
            "PORT": server.port,
            "OPTIONS": {"connect_timeout": 2},
            "AUTOCOMMIT": True,
            "CONN_MAX_AGE": 0,
            "CONN_HEALTH_CHECKS": False,
            "DISABLE_SERVER_SIDE_CURSORS": False,
            "TIME_ZONE": None,
        },
        alias="hanging",
    )
    with django_db_blocker.unblock():
        yield made
        server.resume()
        made.close()


def one(connection):
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return cursor.fetchone()


@pytest.mark.postgres
class TestHanging:
    def test_a_statement_is_given_up_and_its_connection_with_it(self, server, connection):
        patience.wait_at_most(LIMIT_S)
        assert one(connection) == (1,)
        server.pause()
        began_s = time.monotonic()
        with pytest.raises(OperationalError, match=r"has not answered for 0\.5 s"):
            one(connection)
        assert LIMIT_S <= time.monotonic() - began_s < LIMIT_S + LATE_S
        with pytest.raises(DatabaseError, match="closed"):
            one(connection)
        server.resume()
        connection.close()
        assert one(connection) == (1,)

    def test_so_is_a_commit(self, server, connection):
        patience.wait_at_most(LIMIT_S)
        connection.set_autocommit(False)
        assert one(connection) == (1,)
        server.pause()
        with pytest.raises(OperationalError, match="has not answered"):
            connection.commit()

    def test_a_new_connection_is_given_up_too(self, server, connection):
        server.pause()
        began_s = time.monotonic()
        with pytest.raises(OperationalError, match="timeout"):
            one(connection)
        assert time.monotonic() - began_s < 2 + LATE_S

    def test_without_a_limit_the_answer_is_waited_for(self, server, connection):
        assert one(connection) == (1,)
        server.pause()
        threading.Timer(4 * LIMIT_S, server.resume).start()
        assert one(connection) == (1,)

    def test_what_is_slow_but_in_time_is_answered(self, connection):
        patience.wait_at_most(4 * LIMIT_S)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(%s), 7", [LIMIT_S])
            assert cursor.fetchone()[1] == 7
