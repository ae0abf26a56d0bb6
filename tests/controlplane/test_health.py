"""`/healthz` of the whole service and `/readyz` of a process."""

import time

import pytest
from django.db import OperationalError
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from redis.exceptions import ConnectionError as RedisAwayError

from controlplane import health, heartbeat
from controlplane.celery import app
from controlplane.heartbeat import MISSING_AFTER_S, NOTED_EVERY_S, Heartbeat

pytestmark = pytest.mark.django_db


class FakeRedis(dict):
    is_away = False

    def call(self, work):
        if self.is_away:
            raise RedisAwayError("away")
        return work(self)

    def set(self, key, value):
        self[key] = value.encode()

    def ping(self):
        return True


@pytest.fixture
def redis(monkeypatch):
    made = FakeRedis()
    monkeypatch.setattr(heartbeat, "LINK", made)
    monkeypatch.setattr(health, "LINK", made)
    return made


@pytest.fixture(autouse=True)
def asked_afresh(monkeypatch):
    monkeypatch.setattr(health, "MIGRATIONS", health.Migrations())


def parts(path):
    answer = Client().get(path)
    body = answer.json()
    assert (body["status"] == "ok") == (answer.status_code == 200)
    return answer.status_code, body["parts"]


def test_all_is_well(redis):
    Heartbeat().note()
    ok = {"database": "ok", "migrations": "ok"}
    assert parts("/healthz") == (200, {**ok, "redis": "ok", "beat": "ok"})
    assert parts("/readyz") == (200, ok)


def test_a_beat_that_never_was_or_has_stopped_fails_the_service_and_no_process(redis):
    status, found = parts("/healthz")
    assert (status, found["beat"]) == (503, "missing: it has never sent anything")
    Heartbeat().note(time.time() - MISSING_AFTER_S - 30)
    status, found = parts("/healthz")
    assert status == 503
    assert found["beat"].startswith("missing: it last sent something 90 s ago")
    assert parts("/readyz")[0] == 200


def test_of_a_redis_that_is_away_nothing_is_known_of_beat(redis):
    redis.is_away = True
    status, found = parts("/healthz")
    assert status == 503
    assert (found["redis"], found["beat"]) == (
        "away: ConnectionError",
        "unknown: Redis is away",
    )
    assert parts("/readyz")[0] == 200


def test_a_migration_that_is_not_applied_fails_both(redis):
    Heartbeat().note()
    MigrationRecorder.Migration.objects.filter(app="timeline").delete()
    for path in ("/healthz", "/readyz"):
        status, found = parts(path)
        assert status == 503
        assert found["migrations"].endswith("not applied")


def test_migrations_that_are_applied_are_not_read_again(redis, monkeypatch):
    assert parts("/readyz")[0] == 200
    monkeypatch.setattr(health, "MigrationExecutor", None)
    assert parts("/readyz")[0] == 200


def test_a_database_that_is_away(redis, monkeypatch):
    def fails():
        raise OperationalError("away")

    monkeypatch.setattr(health.connection, "cursor", fails)
    status, found = parts("/readyz")
    assert status == 503
    assert found == {"database": "away: OperationalError", "migrations": "unknown"}


def test_beat_notes_what_it_sends_now_and_then(redis, monkeypatch):
    from controlplane.beat import Scheduler

    monkeypatch.setattr(Scheduler, "heartbeat", Heartbeat())
    for name in ("controlplane.beat", "django_celery_beat.schedulers"):
        monkeypatch.setattr(f"{name}.close_old_connections", lambda: None)
    sent = []
    monkeypatch.setattr("celery.beat.Scheduler.apply_async", lambda *_, **__: sent.append(1))
    scheduler = Scheduler(app=app)
    assert heartbeat.last_s() is None
    scheduler.apply_async(scheduler.schedule["operations-sweep"])
    first = heartbeat.last_s()
    assert time.time() - first < NOTED_EVERY_S
    scheduler.apply_async(scheduler.schedule["operations-sweep"])
    assert heartbeat.last_s() == first
    assert len(sent) == 2


def test_what_cannot_be_noted_is_noted_with_the_next(redis):
    beating = Heartbeat()
    redis.is_away = True
    beating.note(100.0)
    redis.is_away = False
    beating.note(101.0)
    assert heartbeat.last_s() == 101.0
    beating.note(101.0 + NOTED_EVERY_S)
    assert heartbeat.last_s() == 101.0 + NOTED_EVERY_S
