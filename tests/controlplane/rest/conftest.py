"""What is in a filled world, who asks, and a count of what would show if a refusal did half."""

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from console.parts import PartRunner
from controlplane.audit.models import AuditEvent
from controlplane.audit.services import REFUSED
from controlplane.tenants.services import api_key_create
from tests.controlplane.rest.surface import OPERATOR_PREFIX
from tests.controlplane.rest.teams import key_of, member_of
from tests.controlplane.support import ACTOR, InPlace, client_for, operator_client


@pytest.fixture(autouse=True)
def pages_read_in_place(monkeypatch):
    """The console's pages see this test's transaction, and nothing that another test kept."""
    monkeypatch.setattr("console.parts.close_old_connections", lambda: None)
    monkeypatch.setattr("console.api.RUNNER", PartRunner(pool=InPlace()))


@pytest.fixture
def ids(world):
    return world.named["ids"]


def key_client(tenant, scope):
    _, text = api_key_create(tenant=tenant, name=scope, scope=scope, actor=ACTOR)
    client = APIClient(raise_request_exception=False)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return client


@pytest.fixture
def owner(world, request):
    """Who is served by the operation or path that a test is about, an owner if it is about none."""
    about = getattr(request.node, "callspec", None)
    given = about.params if about else {}
    path = given["row"].path if "row" in given else str(given.get("path", ""))
    is_operators = path.startswith(OPERATOR_PREFIX)
    client = operator_client(world.tenant) if is_operators else client_for(world.tenant)
    client.raise_request_exception = False
    return client


@pytest.fixture
def state(world):
    """Everything that a write could leave behind, as one value to compare.

    What was observed is no part of it: a question may be the first about a cluster.
    """

    def read():
        own_apps = [
            app
            for app in apps.get_app_configs()
            if app.name.startswith("controlplane.") and app.label != "observed"
        ]
        rows = {
            model.__name__: model.objects.count() for app in own_apps for model in app.get_models()
        }
        # A refusal leaves its row in the record, and nothing else.
        rows["AuditEvent"] = AuditEvent.objects.exclude(outcome=REFUSED).count()
        gateway = world.gateway
        return (
            rows,
            sorted(gateway.topics),
            sorted(gateway.users),
            sorted(gateway.acls),
            {name: dict(found) for name, found in gateway.committed.items()},
            {name: dict(topic.configs) for name, topic in gateway.topics.items()},
            sorted(world.hosts.desired),
            [host.host_id for host in world.hosts.known],
            User.objects.count(),
        )

    return read


@pytest.fixture
def teams(world):
    return world.named["teams"]


@pytest.fixture
def narrow(world, teams):
    return {"member": member_of(world.tenant), "key": key_of(world.tenant)}
