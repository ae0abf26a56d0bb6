import pytest

from tests.controlplane.support import tenant_make


@pytest.fixture(autouse=True)
def quick_passwords(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def rights_read_in_place(monkeypatch):
    """Streams close the connection of the thread in which they look; here it is the test's own."""
    monkeypatch.setattr("console.streams.connection.close", lambda: None)


@pytest.fixture
def acme(db):
    return tenant_make()
