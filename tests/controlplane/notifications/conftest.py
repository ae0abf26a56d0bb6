import pytest
from django.db import transaction

from controlplane.common.crypto import seal
from controlplane.notifications.models import Destination
from controlplane.notifications.services import publish
from tests.controlplane.notifications.events import event
from tests.controlplane.support import tenant_make


@pytest.fixture
def loopback(settings):
    """As an operator allows it who has receivers there."""
    settings.EGRESS_ALLOWED = ["127.0.0.0/8"]


@pytest.fixture
def tenant(db):
    return tenant_make()


@pytest.fixture
def destination(tenant):
    """Makes destinations: webhooks unless told otherwise."""

    def make(url="https://hooks.example.org/", *, of=None, name="", secrets=None, **fields):
        of = of or tenant
        count = Destination.objects.count()
        values = {"kind": "webhook", "config": {"url": url} if url else {}, **fields}
        kept = {"signing_secret": "s3cret-" * 5} if secrets is None else secrets
        return Destination.objects.create(
            tenant=of, name=name or f"d{count}", secrets_token=seal(kept) if kept else "", **values
        )

    return make


@pytest.fixture
def told(tenant):
    """Publishes an event of the tenant, in a transaction of its own."""

    def tell(of=None, **changes):
        with transaction.atomic():
            return publish(event(tenant_id=(of or tenant).pk, **changes))

    return tell
