"""The control plane's world and its one of everything, for pages that read them."""

import pytest
from django.core.cache import caches

from controlplane.common.counts import COUNTS
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
