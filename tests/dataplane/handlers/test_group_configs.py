"""Settings of consumer groups: resource type GROUP of the configuration APIs."""

from __future__ import annotations

import pytest

from dataplane.broker.metadata.config_store import ConfigStore
from dataplane.broker.metadata.registration import ensure_layout
from dataplane.cluster import znodes
from dataplane.model.errors import ErrorCode as E
from tests.dataplane.handlers.one_broker import OneBroker
from tests.dataplane.handlers.test_config_corners import alter, described, replace

GROUP = 32
SET, DELETE, APPEND, SUBTRACT = range(4)
SESSION, INTERVAL = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
NAME = "a group/of ~mine"


@pytest.fixture
async def broker():
    started = OneBroker(**{"group.consumer.heartbeat.interval.ms": "6000"})
    await ensure_layout(started.coordinator)
    await started.configs.start()
    yield started
    await started.configs.stop()
    await started.stop()


def of(row):
    return row.value, row.config_source, [(s.name, s.value, s.source) for s in row.synonyms]


async def test_a_group_has_what_the_broker_has_until_something_is_set(broker):
    rows = {row.name: row for row in (await described(broker, GROUP, NAME)).configs}
    assert of(rows[SESSION]) == ("45000", 5, [("group.consumer.session.timeout.ms", "45000", 5)])
    assert of(rows[INTERVAL])[:2] == ("6000", 4)
    assert await alter(broker, GROUP, NAME, (SESSION, SET, "50000")) == E.NONE
    (row,) = (await described(broker, GROUP, NAME, SESSION)).configs
    assert of(row) == (
        *("50000", 8),
        [(SESSION, "50000", 8), ("group.consumer.session.timeout.ms", "45000", 5)],
    )
    assert not row.read_only
    assert broker.configs.group_config(NAME).get_int(SESSION) == 50_000
    assert broker.configs.group_config("another").get_int(SESSION) == 45_000
    assert await alter(broker, GROUP, NAME, (SESSION, DELETE, None)) == E.NONE
    (row,) = (await described(broker, GROUP, NAME, SESSION)).configs
    assert of(row)[:2] == ("45000", 5)
    assert broker.configs.group_config(NAME).get_int(SESSION) == 45_000


async def test_another_broker_finds_it_in_zookeeper(broker):
    await alter(broker, GROUP, NAME, (SESSION, SET, "50000"))
    data, _stat = await broker.coordinator.get("/config/groups/a%20group%2Fof%20%7Emine")
    assert znodes.decode_config(data) == {SESSION: "50000"}
    other = ConfigStore(broker.coordinator, broker.clock, broker.configs.broker_config, broker_id=2)
    await other.start()
    assert other.group_config(NAME).get_int(SESSION) == 50_000
    await other.stop()


@pytest.mark.parametrize(
    "changes",
    [
        [(SESSION, SET, "44999")],
        [(SESSION, SET, "60001")],
        [(INTERVAL, SET, "4999")],
        [(INTERVAL, SET, "15001")],
        [(SESSION, SET, "soon")],
        [(SESSION, APPEND, "50000")],
        [("retention.ms", SET, "50000")],
    ],
)
async def test_what_is_out_of_bounds_is_refused(broker, changes):
    for dry in (True, False):
        assert await alter(broker, GROUP, NAME, *changes, dry=dry) == E.INVALID_CONFIG
    assert broker.configs.overrides("groups", znodes.sanitize(NAME)) == {}


async def test_a_session_is_longer_than_the_interval():
    limits = {f"group.consumer.{which}.session.timeout.ms": "6000" for which in ("min",)}
    broker = OneBroker(**limits)
    await ensure_layout(broker.coordinator)
    await broker.configs.start()
    too_short = [(SESSION, SET, "6000"), (INTERVAL, SET, "6000")]
    assert await alter(broker, GROUP, NAME, *too_short) == E.INVALID_CONFIG
    await broker.configs.stop()
    await broker.stop()


async def test_a_dry_run_and_the_old_way_to_replace_all(broker):
    assert await alter(broker, GROUP, NAME, (SESSION, SET, "50000"), dry=True) == E.NONE
    assert broker.configs.group_config(NAME).get_int(SESSION) == 45_000
    await alter(broker, GROUP, NAME, (SESSION, SET, "50000"))
    assert await replace(broker, GROUP, NAME, (INTERVAL, "5500")) == E.NONE
    assert broker.configs.overrides("groups", znodes.sanitize(NAME)) == {INTERVAL: "5500"}


async def test_there_is_no_group_without_a_name(broker):
    assert (await described(broker, GROUP, "")).error_code == E.INVALID_REQUEST
    assert await alter(broker, GROUP, "", (SESSION, SET, "50000")) == E.INVALID_REQUEST


async def test_what_no_longer_fits_the_brokers_bounds_is_passed_over(broker):
    await broker.configs.update("groups", "g", lambda _present: {SESSION: "99999"})
    assert broker.configs.group_config("g").get_int(SESSION) == 45_000
