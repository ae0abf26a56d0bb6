"""Attempts to sign in take a bounded part of the machine, whatever their number."""

import json
import threading

import pytest
from django.conf import settings as configured
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import User
from prometheus_client import REGISTRY

from controlplane.common import passwords
from controlplane.common.problems import Unavailable

HASHERS = list(configured.PASSWORD_HASHERS)
BOUNDS = {"hashes": 2}
PASSWORD = "correct horse"


@pytest.fixture(autouse=True)
def as_served(settings, monkeypatch):
    settings.PASSWORD_HASHERS = HASHERS
    settings.PASSWORD_HASHES_AT_A_TIME = BOUNDS["hashes"]
    monkeypatch.setattr(passwords, "WAIT_S", 0.05)


@pytest.fixture
def all_at_work():
    """Others are being hashed, as many as may be at a time."""
    for _ in range(BOUNDS["hashes"]):
        assert passwords.SLOTS.take(BOUNDS)
    yield
    for _ in range(BOUNDS["hashes"]):
        passwords.SLOTS.give_back(BOUNDS)


def sign_in(client, username):
    body = json.dumps({"username": username, "password": PASSWORD})
    return client.post("/console/api/login", body, content_type="application/json")


@pytest.mark.usefixtures("all_at_work")
@pytest.mark.parametrize("username", ["ada", "nobody"])
def test_no_more_passwords_are_hashed_at_a_time(db, client, settings, username):
    settings.PASSWORD_HASHES_AT_A_TIME = 3
    User.objects.create_user("ada", password=PASSWORD)
    settings.PASSWORD_HASHES_AT_A_TIME = 2
    before = REGISTRY.get_sample_value("penstock_passwords_refused_total")
    refused = sign_in(client, username)
    assert (refused.status_code, refused.json()["code"]) == (503, "too-busy")
    assert refused["Retry-After"]
    assert REGISTRY.get_sample_value("penstock_passwords_refused_total") == before + 1


def test_a_turn_is_given_back_whatever_comes_of_it(db, client):
    User.objects.create_user("ada", password=PASSWORD)
    assert sign_in(client, "nobody").status_code == 401
    assert sign_in(client, "ada").status_code == 200
    with pytest.raises(TypeError):
        make_password(object())
    assert passwords.SLOTS.held("hashes") == 0


def test_who_waits_gets_a_turn(monkeypatch):
    monkeypatch.setattr(passwords, "WAIT_S", 30.0)
    hashed = make_password(PASSWORD)
    most, right = [], []

    def check():
        right.append(check_password(PASSWORD, hashed))
        most.append(passwords.SLOTS.held("hashes"))

    threads = [threading.Thread(target=check) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 6
    assert max(most) <= BOUNDS["hashes"]


@pytest.mark.usefixtures("all_at_work")
def test_hashes_of_new_passwords_count_too():
    with pytest.raises(Unavailable):
        make_password(PASSWORD)
