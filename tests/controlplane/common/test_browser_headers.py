"""The headers that browsers obey: over TLS, about framing, and what a page may load."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from controlplane.celery import app
from controlplane.tenants.tasks import clear_sessions

REPOSITORY = Path(__file__).resolve().parents[3]
ADDRESSES = ["/", "/index.html", "/healthz", "/readyz", "/api/v1", "/api/v1/me", "/api/v1/nothing"]
ADDRESSES += ["/console/api/session", "/console/events", "/console/nothing", "/assets/none.js"]
SHOWN = """
import json
from django.conf import settings
names = ["HTTPS", "SECURE_SSL_REDIRECT", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE",
         "SECURE_HSTS_SECONDS", "ALLOWED_HOSTS", "TRUSTED_PROXIES"]
print(json.dumps({name: getattr(settings, name) for name in names}))
"""


def settings_with(tmp_path, **environment):
    base = {name: text for name, text in os.environ.items() if not name.startswith("PENSTOCK_")}
    more = {
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "PENSTOCK_DATA_DIR": str(tmp_path / "data"),
        "PYTHONPATH": str(REPOSITORY),
    }
    command = [sys.executable, "-c", SHOWN]
    whole = {**base, **more, **environment}
    return subprocess.run(command, env=whole, capture_output=True, text=True, check=False)


def test_a_machine_of_ones_own_is_served_plainly(tmp_path):
    found = json.loads(settings_with(tmp_path).stdout)
    assert found["ALLOWED_HOSTS"] == ["127.0.0.1", "localhost"]
    assert [found[name] for name in ("HTTPS", "SESSION_COOKIE_SECURE", "SECURE_HSTS_SECONDS")] == [
        False,
        False,
        0,
    ]


def test_whoever_names_a_public_host_serves_over_tls(tmp_path):
    public = {"PENSTOCK_ALLOWED_HOSTS": "penstock.example.org,127.0.0.1"}
    found = json.loads(settings_with(tmp_path, **public).stdout)
    switches = ("HTTPS", "SECURE_SSL_REDIRECT", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE")
    assert [found[name] for name in switches] == [True] * 4
    assert found["SECURE_HSTS_SECONDS"] >= 365 * 24 * 3600
    found = json.loads(settings_with(tmp_path, **public, PENSTOCK_HTTPS="false").stdout)
    assert [found[name] for name in switches] == [False] * 4


@pytest.mark.parametrize("text", ["10.0.0.1/8", "everybody", "*"])
def test_a_network_that_is_none_ends_the_start(tmp_path, text):
    ended = settings_with(tmp_path, PENSTOCK_TRUSTED_PROXIES=text)
    assert ended.returncode != 0
    assert text in ended.stderr


def test_over_tls_plain_requests_are_redirected_and_cookies_are_secure(db, settings):
    settings.SECURE_SSL_REDIRECT = True
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    settings.SECURE_HSTS_SECONDS = 3600
    User.objects.create_user("ada", password="correct horse")
    client = Client()
    plain = client.get("/console/api/session")
    assert (plain.status_code, plain["Location"]) == (301, "https://testserver/console/api/session")
    assert client.get("/readyz").status_code == 200
    body = json.dumps({"username": "ada", "password": "correct horse"})
    answer = client.post("/console/api/login", body, content_type="application/json", secure=True)
    assert answer.status_code == 200
    assert answer["Strict-Transport-Security"] == "max-age=3600"
    assert len(answer.cookies) == 2
    for cookie in answer.cookies.values():
        assert cookie["secure"] is True
        assert cookie["samesite"] == "Lax"
    assert answer.cookies["penstock_session"]["httponly"] is True


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_answer_has_the_headers(db, settings, tmp_path, address):
    (tmp_path / "index.html").write_text("<title>Penstock</title>")
    settings.FRONTEND_DIST = tmp_path
    answer = Client().get(address)
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"
    assert answer["Referrer-Policy"] == "same-origin"
    assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
    policy = answer["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    if answer["Content-Type"].startswith("text/html"):
        assert "script-src 'self';" in policy
        assert "object-src 'none'" in policy
        assert answer["Permissions-Policy"] == "camera=(), geolocation=(), microphone=()"
    else:
        assert policy.startswith("default-src 'none'")
    if address.startswith(("/api", "/console/", "/healthz", "/readyz")):
        assert answer["Cache-Control"] == "no-store"


def test_other_hosts_are_refused(db):
    answer = Client().get("/api/v1/me", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-request")


def test_sessions_that_have_run_out_are_swept(db):
    store = import_module(configured.SESSION_ENGINE).SessionStore
    live, old = store(), store()
    live.save()
    old.save()
    Session.objects.filter(pk=old.session_key).update(expire_date=timezone.now())
    clear_sessions()
    assert list(Session.objects.values_list("pk", flat=True)) == [live.session_key]


def test_the_sweep_is_scheduled():
    rows = app.conf.beat_schedule.values()
    assert [row["schedule"] for row in rows if row["task"] == clear_sessions.name] == [3600.0]
