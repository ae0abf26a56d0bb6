from __future__ import annotations

import pytest

from tests.dataplane.handlers.one_broker import OneBroker


@pytest.fixture
async def broker():
    broker = OneBroker()
    yield broker
    await broker.stop()
