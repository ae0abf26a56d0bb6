"""Signing in over HTTP, and pages that only their tenant sees."""

import json

import pytest
from django.contrib.auth.models import User
from django.test import Client

from controlplane.audit.models import AuditEvent
from controlplane.common.grants import OPERATOR, Grant, Match, Pattern
from controlplane.common.limits import SMALL_BODY_MAX_BYTES
from controlplane.tenants.services import membership_ensure
from tests.controlplane.rest.surface import OWN_SESSION, document
from tests.controlplane.rest.test_document import component, faults
from tests.controlplane.support import tenant_make

PASSWORD = "correct horse"


@pytest.fixture
def ada(db):
    user = User.objects.create_user("ada", password=PASSWORD)
    membership_ensure(tenant=tenant_make(), user=user, role="operator")
    return user


def sign_in(client, password):
    body = json.dumps({"username": "ada", "password": password})
    return client.post("/console/api/login", body, content_type="application/json")


def test_sign_in_says_who_and_what_one_may(client, ada):
    session = sign_in(client, PASSWORD).json()
    assert session["user"]["username"] == "ada"
    assert session["can_write"] is True
    assert client.get("/console/api/session").json()["tenant"]["slug"] == session["tenant"]["slug"]
    client.post("/console/api/logout")
    assert client.get("/console/api/session").json()["user"] is None


def test_a_wrong_password_leaves_a_row_without_it(client, ada):
    sign_in(client, "a wrong secret")
    row = AuditEvent.objects.get(action="session.login_failed")
    assert (row.tenant_id, row.actor, row.resource) == (tenant_make().id, "user:ada", "user/ada")
    assert row.remote_address == "127.0.0.1"
    assert "a wrong secret" not in json.dumps(row.data)


def test_a_wrong_name_leaves_a_short_row(client, db):
    body = json.dumps({"username": "x" * 5000, "password": "y"})
    client.post("/console/api/login", body, content_type="application/json")
    row = AuditEvent.objects.get(action="session.login_failed")
    assert (row.tenant_id, row.data["username"]) == ("", "x" * 150)


def test_guessing_is_slowed_down(client, ada):
    for _ in range(5):
        assert sign_in(client, "wrong").status_code == 401
    answer = sign_in(client, PASSWORD)
    assert answer.status_code == 429
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("body", ["[]", "{", '{"username": 1, "password": "x"}', "{}"])
def test_bad_bodies_are_refused(client, db, body):
    answer = client.post("/console/api/login", body, content_type="application/json")
    assert answer.status_code in {400, 422}
    assert answer.json()["title"]


@pytest.mark.parametrize("name", ["login", "tenant"])
def test_a_large_body_is_refused_before_anything_is_made_of_it(client, ada, name):
    body = json.dumps({"username": "ada", "password": "x" * SMALL_BODY_MAX_BYTES, "slug": "x"})
    if name == "tenant":
        client.force_login(ada)
    answer = client.post(f"/console/api/{name}", body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (413, "too-large")
    assert not AuditEvent.objects.exists()


def test_pages_are_for_the_signed_in(client, db):
    answer = client.get("/console/api/pages/overview")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


@pytest.mark.parametrize(
    "path", ["pages/nothing", "pages/cluster", "pages/cluster/cl_x", "unknown"]
)
def test_what_is_not_there_is_404(client, ada, path):
    client.force_login(ada)
    assert client.get(f"/console/api/{path}").status_code == 404


def test_a_page_has_only_get(client, ada):
    client.force_login(ada)
    answer = client.post("/console/api/pages/overview")
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD, OPTIONS")


def test_the_session_is_what_the_document_says(client, ada):
    assert set(document()["paths"]) >= OWN_SESSION
    for session in (client.get("/console/api/session"), sign_in(client, PASSWORD)):
        assert session["Cache-Control"] == "no-store"
        assert faults(component("Session"), session.json()) == []


@pytest.mark.parametrize("name", ["login", "logout", "tenant"])
def test_a_write_without_the_csrf_token_is_refused(ada, name):
    client = Client(enforce_csrf_checks=True)
    answer = client.post(f"/console/api/{name}", "{}", content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf-failed")


def test_signing_in_and_choosing_with_the_csrf_token(ada):
    other = tenant_make("rival")
    membership_ensure(tenant=other, user=ada, role="viewer")
    client = Client(enforce_csrf_checks=True)
    session = client.get("/console/api/session").json()

    def post(name, body):
        nonlocal session
        token = {"X-CSRFToken": session["csrf_token"]}
        answer = client.post(
            f"/console/api/{name}", json.dumps(body), "application/json", headers=token
        )
        assert answer.status_code == 200, answer.content
        session = answer.json()

    post("login", {"username": "ada", "password": PASSWORD})
    post("tenant", {"slug": "rival"})
    assert (session["tenant"]["slug"], session["can_write"]) == ("rival", False)
    post("logout", {})
    assert session["user"] is None


@pytest.mark.parametrize(
    ("role", "grants", "flags"),
    [
        ("operator", (), (True, True)),
        ("viewer", (), (False, False)),
        (
            "limited",
            (Grant(role=OPERATOR, clusters=Pattern(Match.LITERAL, "main")),),
            (True, False),
        ),
    ],
)
def test_a_session_says_whether_one_may_write_what_is_of_no_one_cluster(
    client, ada, role, grants, flags
):
    membership_ensure(tenant=tenant_make(), user=ada, role=role, grants=grants)
    session = sign_in(client, PASSWORD).json()
    assert (session["can_write"], session["can_write_tenant"]) == flags
    answer = client.post(
        "/api/v1/lag-objectives",
        json.dumps({"seconds": 60, "share": 0.99}),
        "application/json",
        headers={"X-CSRFToken": session["csrf_token"]},
    )
    assert answer.status_code == (201 if session["can_write_tenant"] else 403), answer.content


def test_a_tenant_of_others_cannot_be_chosen(client, ada):
    tenant_make("rival")
    client.force_login(ada)
    body = json.dumps({"slug": "rival"})
    answer = client.post("/console/api/tenant", body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (404, "not-found")
    client.logout()
    answer = client.post("/console/api/tenant", body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
