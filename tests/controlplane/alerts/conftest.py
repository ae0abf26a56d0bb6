import pytest

from controlplane.alerts import facts_hosts
from controlplane.notifications import services as notifications
from tests.controlplane.alerts.rounds import Rounds, quieten


@pytest.fixture(autouse=True)
def zookeeper_is_not_awaited(monkeypatch):
    """There is none here; those with one of their own set their own time."""
    monkeypatch.setattr(facts_hosts, "READ_S", 0.1)


@pytest.fixture
def told(monkeypatch):
    """Events that would be sent."""
    events = []
    monkeypatch.setattr(notifications, "publish_all", events.extend)
    return events


@pytest.fixture
def rounds():
    return Rounds()


@pytest.fixture
def quiet(world):
    """A cluster of which all that is in the tables is well."""
    return quieten(world)
