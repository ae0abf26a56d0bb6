"""The control plane's world and its one of everything, for pages that read them."""

import asyncio

import pytest
from django.core.cache import caches

from controlplane.common.counts import COUNTS
from tests.console.listening import SECONDS, Listener, close_databases
from tests.controlplane.conftest import no_rate_limits, world
from tests.controlplane.rest.conftest import ids, pages_read_in_place

__all__ = ["ids", "no_rate_limits", "own_caches", "pages_read_in_place", "quick_passwords", "world"]

LOCAL = "django.core.cache.backends.locmem.LocMemCache"


@pytest.fixture(autouse=True)
def own_caches(settings):
    """Both caches in memory and empty: no Redis is asked that happens to run here."""
    settings.CACHES = {
        name: {"BACKEND": LOCAL, "LOCATION": f"test-{name}"} for name in settings.CACHES
    }
    COUNTS.ask_again()
    for name in settings.CACHES:
        caches[name].clear()


@pytest.fixture(autouse=True)
def quick_passwords(settings):
    """A sign-in costs microseconds: how passwords are kept is Django's to test."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
async def listen():
    made = []

    async def open_one(session_key, target="/console/events"):
        cookie = f"penstock_session={session_key}".encode()
        listener = Listener(target, [(b"cookie", cookie)])
        made.append(listener)
        await asyncio.wait_for(listener.opened.wait(), SECONDS)
        return listener

    yield open_one
    for listener in made:
        await listener.leave()
    await asyncio.sleep(0)
    await close_databases()
