import pytest

from controlplane.notifications import services as notifications
from tests.controlplane.alerts.rounds import Rounds, quieten


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
