import pytest
from django.utils import timezone

from tests.controlplane.kind_plans import add_broker


@pytest.fixture
def brokers(world):
    """The world's cluster with rows for its brokers 1 to 3; broker 1 is the controller."""
    for number in (1, 2, 3):
        add_broker(world, number)
    world.gateway.brokers.pop(4)
    world.gateway.add_topic("orders", partitions=3, rf=3)
    return world


@pytest.fixture
def clock(monkeypatch):
    """The roll's own time, which tests move."""

    class Clock:
        ahead_s = 0.0

        def pass_s(self, seconds):
            self.ahead_s += seconds

    made = Clock()
    monkeypatch.setattr(
        "controlplane.clusters.rolling.now_s",
        lambda: timezone.now().timestamp() + made.ahead_s,
    )
    return made
