"""Beat goes on with the schedule that it has while the database is away."""

import pytest
from django.db import InterfaceError, OperationalError
from django_celery_beat import schedulers
from django_celery_beat.models import PeriodicTask

from controlplane import beat
from controlplane.beat import Scheduler
from controlplane.celery import app

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def one_connection(monkeypatch):
    """The test's own, whose transaction a fresh one would not see."""
    for name in ("controlplane.beat", "django_celery_beat.schedulers"):
        monkeypatch.setattr(f"{name}.close_old_connections", lambda: None)


@pytest.fixture
def scheduler():
    made = Scheduler(app=app)
    yield made
    made.close()


def test_it_is_the_scheduler_that_beat_takes():
    assert app.conf.beat_scheduler == "controlplane.beat:Scheduler"


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_the_regular_reading_meets_no_database(scheduler, monkeypatch, error):
    before = dict(scheduler.schedule)
    assert "operations-sweep" in before

    def fails(*_, **__):
        raise error("the connection is lost")

    monkeypatch.setattr(scheduler, "enabled_models", fails)
    monkeypatch.setattr(schedulers, "SCHEDULE_SYNC_MAX_INTERVAL", 0)
    assert dict(scheduler.schedule) == before


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_looking_for_changes_meets_no_database(scheduler, monkeypatch, caplog, error):
    before = dict(scheduler.schedule)

    def fails():
        raise error("the connection is lost")

    monkeypatch.setattr(scheduler.Changes, "last_change", staticmethod(fails))
    with caplog.at_level("WARNING"):
        for _ in range(3):
            assert dict(scheduler.schedule) == before
    assert "Traceback" not in caplog.text
    assert len(caplog.records) <= 1


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_what_ran_is_written_down_once_it_can_be(scheduler, monkeypatch, caplog, error):
    entry = scheduler.reserve(scheduler.schedule["operations-sweep"])
    kept = PeriodicTask.objects.filter(name=entry.name)

    def fails():
        raise error("the connection is lost")

    with monkeypatch.context() as away, caplog.at_level("WARNING"):
        away.setattr(beat.connection, "ensure_connection", fails)
        for _ in range(3):
            scheduler.sync()
    assert kept.get().last_run_at is None
    assert not [row for row in caplog.records if row.exc_info]
    scheduler.sync()
    assert kept.get().last_run_at == entry.last_run_at


@pytest.mark.parametrize("interval_s", [0.5, 3.75, 1.0, 300.0])
def test_an_interval_is_read_back_as_it_was_given(scheduler, interval_s):
    """Of half a second the library's own stored none: beat sent 50 sweeps a second."""
    scheduler.update_from_dict({"tried": {"task": "operations.sweep", "schedule": interval_s}})
    scheduler.update_from_dict({"tried": {"task": "operations.sweep", "schedule": interval_s}})
    read_back = Scheduler(app=app).schedule["tried"]
    assert read_back.schedule.run_every.total_seconds() == interval_s
    assert PeriodicTask.objects.get(name="tried").interval_id is not None


def test_entries_are_kept_in_the_schedule_that_is_shown(scheduler, monkeypatch):
    """The library adds those of the settings to what it reads here, also where that is empty."""
    monkeypatch.setattr(schedulers, "SCHEDULE_SYNC_MAX_INTERVAL", 10_000)
    PeriodicTask.objects.all().delete()
    assert scheduler.schedule == {}
    scheduler.schedule["added"] = None
    assert scheduler.schedule == {"added": None}


def test_a_change_is_taken_up(scheduler):
    assert "operations-sweep" in scheduler.schedule
    PeriodicTask.objects.get(name="operations-sweep").delete()
    assert "operations-sweep" not in scheduler.schedule


def test_without_a_schedule_there_is_nothing_to_go_on_with(monkeypatch):
    def fails(*_, **__):
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(Scheduler, "enabled_models", fails)
    with pytest.raises(OperationalError):
        Scheduler(app=app)
