"""One's own login: the password, and one-time links."""

import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from controlplane.administration.services.invitations import invite
from controlplane.administration.services.users import user_create, user_link
from controlplane.audit.models import AuditEvent
from controlplane.tenants.models import Invitation, Membership
from controlplane.tenants.services import membership_ensure
from tests.controlplane.support import ACTOR, tenant_make

pytestmark = pytest.mark.django_db
PASSWORD, OTHER = "correct horse battery", "another long phrase"


@pytest.fixture
def ada(db):
    user = User.objects.create_user("ada", password=PASSWORD)
    membership_ensure(tenant=tenant_make(), user=user, role="operator")
    return user


def post(client, path, **body):
    return client.post(f"/console/api/{path}", json.dumps(body), content_type="application/json")


def signed_in(name="ada", password=PASSWORD):
    client = Client()
    assert post(client, "login", username=name, password=password).status_code == 200
    return client


def user_of(client):
    return client.get("/console/api/session").json()["user"]


def test_a_new_password_ends_the_other_sessions_and_keeps_this_one(ada):
    here, there = signed_in(), signed_in()
    answer = post(here, "password", old_password=PASSWORD, new_password=OTHER)
    assert answer.status_code == 200
    assert user_of(here)["username"] == "ada"
    assert user_of(there) is None
    assert post(Client(), "login", username="ada", password=PASSWORD).status_code == 401
    assert user_of(signed_in(password=OTHER))
    row = AuditEvent.objects.filter(action="user.password-change", tenant_id=tenant_make().id).get()
    assert (row.actor, row.resource) == ("user:ada", "user/ada")
    assert OTHER not in json.dumps(list(AuditEvent.objects.values("data", "reason")))


@pytest.mark.parametrize(
    ("old", "new", "pointer"),
    [("wrong", OTHER, "/old_password"), (PASSWORD, "short", "/new_password")],
)
def test_a_password_that_will_not_do_is_named_and_changes_nothing(ada, old, new, pointer):
    client = signed_in()
    answer = post(client, "password", old_password=old, new_password=new)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)
    assert user_of(client)
    assert user_of(signed_in())


def test_guesses_of_the_old_password_are_slowed_down(ada):
    client = signed_in()
    for _ in range(5):
        assert post(client, "password", old_password="x", new_password=OTHER).status_code == 422
    assert post(client, "password", old_password=PASSWORD, new_password=OTHER).status_code == 429


def test_nobody_changes_a_password_without_being_signed_in(ada):
    answer = post(Client(), "password", old_password=PASSWORD, new_password=OTHER)
    assert answer.status_code == 401


@pytest.mark.parametrize("path", ["password", "invitation", "invitation/acceptance"])
def test_writes_are_checked_against_forgery(ada, path):
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    assert post(client, path, token="x").status_code == 403


def token_into(role="viewer"):
    link = invite(tenant=tenant_make(), role=role, note="", actor=ACTOR, lifetime=timedelta(days=1))
    return link.path.partition("#")[2]


def test_a_stranger_opens_a_link_and_is_in():
    token, client = token_into("operator"), Client()
    shown = post(client, "invitation", token=token).json()
    assert (shown["leads_to"], shown["tenant"], shown["role"]) == ("tenant", "Acme", "operator")
    answer = post(client, "invitation/acceptance", token=token, username="new", password=PASSWORD)
    assert answer.json()["user"] == {"username": "new", "email": "", "is_staff": False}
    assert answer.json()["tenant"]["role"] == "operator"
    assert post(Client(), "invitation", token=token).status_code == 410
    again = post(Client(), "invitation/acceptance", token=token, username="b", password=PASSWORD)
    assert again.status_code == 410
    assert not User.objects.filter(username="b").exists()


def test_who_is_signed_in_joins_as_themselves(ada):
    other = tenant_make("other")
    link = invite(tenant=other, role="viewer", note="", actor=ACTOR, lifetime=timedelta(days=1))
    client = signed_in()
    answer = post(client, "invitation/acceptance", token=link.path.partition("#")[2])
    assert (answer.status_code, answer.json()["tenant"]["slug"]) == (200, "other")
    assert Membership.objects.get(user=ada, tenant=other).role == "viewer"


def test_a_link_to_a_password_signs_in_whom_it_is_for_and_nobody_else(ada):
    """Opened by somebody who is signed in as another, it ends that session."""
    user, link = user_create(username="new", email="", is_operator=False, actor=ACTOR)
    membership_ensure(tenant=tenant_make(), user=user, role="viewer")
    client, token = signed_in(), link.path.partition("#")[2]
    assert post(client, "invitation", token=token).json()["username"] == "new"
    key = client.cookies["penstock_session"].value
    weak = post(client, "invitation/acceptance", token=token, password="short")
    assert weak.json()["errors"][0]["pointer"] == "/password"
    assert user_of(client)["username"] == "ada"
    answer = post(client, "invitation/acceptance", token=token, password=OTHER)
    assert answer.json()["user"]["username"] == "new"
    assert client.cookies["penstock_session"].value != key


def test_a_forgotten_password_is_set_by_link_and_old_sessions_end(ada):
    old = signed_in()
    token = user_link(username="ada", actor=ACTOR).path.partition("#")[2]
    assert user_of(old), "until the link is used"
    post(Client(), "invitation/acceptance", token=token, password=OTHER)
    assert user_of(old) is None


@pytest.mark.parametrize("token", ["", "psi_a_b", "x" * 201, "psi_\0_x", 5, None, ["psi_a_b"]])
def test_links_that_are_none_are_refused(ada, token):
    for path in ("invitation", "invitation/acceptance"):
        answer = post(Client(), path, token=token)
        assert answer.status_code in {404, 422}, answer.content
        assert answer.json()["title"]


def test_a_link_whose_time_is_over_says_so():
    token = token_into()
    Invitation.objects.update(expires_at=timezone.now())
    answer = post(Client(), "invitation", token=token)
    assert (answer.status_code, answer.json()["code"]) == (410, "gone")


def test_nothing_that_a_link_holds_is_recorded():
    token = token_into()
    post(Client(), "invitation/acceptance", token=token, username="new", password=PASSWORD)
    rows = json.dumps(list(AuditEvent.objects.values("resource", "data", "reason", "actor")))
    assert token not in rows
    assert PASSWORD not in rows
