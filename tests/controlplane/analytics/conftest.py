"""A world whose collector publishes into a list, and rows as a run would leave them."""

from __future__ import annotations

import pytest

from controlplane.analytics import collect


class ListPublisher:
    def __init__(self, spec):
        self.spec = spec
        self.records = []
        self.error = None
        self.closed = False

    def publish(self, records):
        if self.error is not None:
            raise self.error
        self.records += records

    def close(self):
        self.closed = True


@pytest.fixture
def publishers(monkeypatch):
    """Every publisher that the collector made, in order."""
    made = []

    def make(spec):
        made.append(ListPublisher(spec))
        return made[-1]

    monkeypatch.setattr(collect, "TelemetryPublisher", make)
    return made
