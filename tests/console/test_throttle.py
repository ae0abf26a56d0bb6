"""Guessing passwords: counted per name and address, for all web processes, also without Redis."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.conf import settings as configured
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import RequestFactory
from redis import Redis
from redis.backoff import ConstantBackoff
from redis.retry import Retry

from console.throttle import LoginBurstThrottle, LoginSustainedThrottle
from controlplane.audit.models import AuditEvent
from controlplane.common.counts import OWN, SHARED
from tests.ports import free_row
from tests.processes import hold_still

PASSWORD = "correct horse"
REPOSITORY = Path(__file__).resolve().parents[2]
REDIS_CACHE = configured.CACHES["default"]
BURST, SUSTAINED = 5, 60


@pytest.fixture
def now_s(monkeypatch):
    """A clock for the windows that only tests move; it stands at a window's beginning."""
    now_s = [3600.0 * 500_000]
    timer = staticmethod(lambda: now_s[0])
    monkeypatch.setattr("rest_framework.throttling.SimpleRateThrottle.timer", timer)
    return now_s


@pytest.fixture
def people(db):
    return [User.objects.create_user(name, password=PASSWORD) for name in ("ada", "bob")]


def sign_in(client, password, *, username="ada", address="10.0.0.1", **headers):
    body = json.dumps({"username": username, "password": password})
    return client.post(
        "/console/api/login",
        body,
        content_type="application/json",
        REMOTE_ADDR=address,
        headers=headers,
    )


def guess_until_refused(client, **who):
    for _ in range(BURST):
        assert sign_in(client, "wrong", **who).status_code == 401
    assert sign_in(client, PASSWORD, **who).status_code == 429


def test_the_refusal_says_when_to_try_again(client, people, now_s):
    guess_until_refused(client)
    now_s[0] += 20.5
    answer = sign_in(client, PASSWORD)
    assert answer.status_code == 429
    assert answer["Retry-After"] == "40"
    assert answer["Content-Type"] == "application/problem+json"
    assert (answer.json()["code"], answer.json()["detail"]) == ("slow-down", "Try again in 40 s.")


def test_a_new_window_lets_one_in_again(client, people, now_s):
    guess_until_refused(client)
    now_s[0] += 60
    assert sign_in(client, PASSWORD).status_code == 200


def test_another_address_and_another_name_are_not_slowed_down(client, people, now_s):
    guess_until_refused(client)
    assert sign_in(client, PASSWORD, address="10.0.0.2").status_code == 200
    assert sign_in(client, PASSWORD, username="bob").status_code == 200


def test_neither_a_forwarded_address_nor_another_case_gets_round_it(client, people, now_s):
    guess_until_refused(client)
    forwarded = {"x-forwarded-for": "10.9.9.9"}
    assert sign_in(client, PASSWORD, **forwarded).status_code == 429
    assert sign_in(client, "wrong", username="ADA").status_code == 429


def test_addresses_that_one_machine_has_guess_as_one(client, people, now_s):
    for host in range(BURST):
        assert sign_in(client, "wrong", address=f"2001:db8:1:2::{host:x}").status_code == 401
    assert sign_in(client, PASSWORD, address="2001:db8:1:2:ffff::1").status_code == 429
    assert sign_in(client, PASSWORD, address="2001:db8:1:3::1").status_code == 200


def test_an_address_tries_so_many_names(client, people, settings):
    """One password for all names is guessing too."""
    settings.RATE_LIMITS = {"sign_in": "3/hour"}
    for number in range(3):
        assert sign_in(client, "Summer2026", username=f"user{number}").status_code == 401
    refused = sign_in(client, PASSWORD)
    assert (refused.status_code, refused.json()["code"]) == (429, "slow-down")
    assert int(refused["Retry-After"]) <= 3600
    assert sign_in(client, PASSWORD, address="10.0.0.2").status_code == 200


def test_attempts_leave_so_many_rows_in_the_record(client, people, settings):
    """It takes rows for good: whoever has no login does not fill it."""
    settings.RATE_LIMITS = {"refusals": "3/hour"}
    for number in range(6):
        assert sign_in(client, "wrong", username=f"user{number}").status_code == 401
    assert sign_in(client, "wrong", address="10.0.0.2").status_code == 401
    rows = AuditEvent.objects.filter(action="session.login_failed", outcome="refused")
    assert [row.remote_address for row in rows.order_by("pk")] == ["10.0.0.1"] * 3 + ["10.0.0.2"]


def test_signing_in_forgets_what_went_wrong(client, people, now_s):
    for _ in range(3):
        for _ in range(BURST - 1):
            assert sign_in(client, "wrong").status_code == 401
        assert sign_in(client, PASSWORD).status_code == 200


def test_patient_guessing_is_slowed_down_too(people, now_s):
    """What the burst refuses does not count for the hour."""
    request = RequestFactory().post("/console/api/login")
    burst, sustained = LoginBurstThrottle("ada"), LoginSustainedThrottle("ada")
    for _ in range(SUSTAINED // BURST):
        assert [burst.allow_request(request) for _ in range(BURST + 3)].count(True) == BURST
        assert all(sustained.allow_request(request) for _ in range(BURST))
        now_s[0] += 60
    assert burst.allow_request(request)
    assert not sustained.allow_request(request)
    assert sustained.wait() == 3600 - 60 * SUSTAINED / BURST


def test_names_of_any_characters_and_length_are_counted(client, db, now_s):
    for name in ("a b\n\x00", "x" * 5000, "\ud800"):
        for _ in range(BURST):
            assert LoginBurstThrottle(name).allow_request(RequestFactory().post("/"))
        assert not LoginBurstThrottle(name).allow_request(RequestFactory().post("/"))


def use_redis(settings, port):
    own = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "own"}
    shared = {**REDIS_CACHE, "LOCATION": f"redis://127.0.0.1:{port}/0"}
    settings.CACHES = {SHARED: shared, OWN: own}
    caches[OWN].clear()


def test_without_redis_each_process_counts_for_itself(client, people, now_s, settings):
    use_redis(settings, free_row(1))
    guess_until_refused(client)
    now_s[0] += 60
    assert sign_in(client, PASSWORD).status_code == 200


@pytest.fixture
def redis_server(tmp_path):
    """A Redis of this test; gives its process and port."""
    port = free_row(1)
    command = [shutil.which("redis-server") or "redis-server", "--port", str(port)]
    command += ["--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    with (tmp_path / "redis.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        with Redis(port=port, retry=Retry(ConstantBackoff(0.05), 200)) as probe:
            probe.ping()
        yield process, port
    finally:
        process.kill()
        process.wait()


GUESSES = """
import sys
import django
django.setup()
from django.test import RequestFactory
from console.throttle import LoginBurstThrottle
sys.stdin.readline()
request = RequestFactory().post("/console/api/login")
LoginBurstThrottle.timer = staticmethod(lambda: 0.0)
print(sum(LoginBurstThrottle("ada").allow_request(request) for _ in range(50)))
"""


@pytest.mark.redis
def test_two_processes_count_together(redis_server, tmp_path):
    _process, port = redis_server
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        "PENSTOCK_DATA_DIR": str(tmp_path / "data"),
        "PENSTOCK_REDIS_URL": f"redis://127.0.0.1:{port}/0",
        "PYTHONPATH": str(REPOSITORY),
    }
    guessers = [
        subprocess.Popen(
            [sys.executable, "-c", GUESSES],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for guesser in guessers:
        guesser.stdin.write("go\n")
        guesser.stdin.flush()
    allowed = [int(guesser.communicate(timeout=60)[0]) for guesser in guessers]
    assert [guesser.returncode for guesser in guessers] == [0, 0]
    assert sum(allowed) == BURST


@pytest.mark.redis
def test_what_is_counted_in_redis_ends_with_its_window(
    redis_server, client, people, now_s, settings
):
    _process, port = redis_server
    use_redis(settings, port)
    guess_until_refused(client)
    with Redis(port=port) as redis:
        lifetimes_s = sorted(redis.ttl(key) for key in redis.scan_iter())
    assert len(lifetimes_s) == 2
    assert 0 < lifetimes_s[0] <= 60
    assert 60 < lifetimes_s[1] <= 3600
    now_s[0] += 60
    assert sign_in(client, PASSWORD).status_code == 200


@pytest.mark.redis
def test_redis_dying_in_between_locks_nobody_out(redis_server, client, people, now_s, settings):
    process, port = redis_server
    use_redis(settings, port)
    assert sign_in(client, "wrong").status_code == 401
    process.kill()
    process.wait()
    guess_until_refused(client)
    assert sign_in(client, PASSWORD, username="bob").status_code == 200


@pytest.mark.redis
def test_a_redis_that_hangs_delays_a_sign_in_by_seconds_at_most(
    redis_server, client, people, now_s, settings
):
    process, port = redis_server
    use_redis(settings, port)
    hold_still(process.pid)
    try:
        asked_s = time.monotonic()
        assert sign_in(client, PASSWORD).status_code == 200
        assert time.monotonic() - asked_s < 10
    finally:
        process.send_signal(signal.SIGCONT)
