"""One-time tokens by which hosts join: made, spent once, refused in one line."""

import argparse
import json
import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from controlplane.administration.services import host_tokens
from controlplane.audit.models import AuditEvent
from controlplane.clusters.models import HostKey, JoinToken
from controlplane.clusters.sealing import host_keys, seal_for_host
from controlplane.common.problems import Conflict
from dataplane.agent.join import ENV_FILE, KEY_FILE, LOGIN_FILE, JoinError, join
from dataplane.agent.secrets import Unsealer
from tests.controlplane.administration.helpers import actions
from tests.controlplane.support import ACTOR, client_for, operator_client
from zookeeper_access import files, keys

CONNECTION = {keys.SASL_USERNAME: "agents", keys.SASL_PASSWORD: "let-agents-in-1"}


def make(host_id="host-9", **more):
    made = host_tokens.token_make(host_id=host_id, actor=ACTOR, lifetime_s=3600, **more)
    return made.text


def post(token):
    return Client().post("/agents/join", json.dumps({"token": token}), "application/json")


def refused(answer):
    body = answer.json()
    assert "\n" not in body["detail"]
    return answer.status_code, body["code"]


@pytest.mark.django_db
def test_a_token_opens_its_host_once(world):
    token = make()
    answer = post(token)
    assert answer.status_code == 200
    assert answer["Cache-Control"] == "no-store"
    found = answer.json()
    assert found["host_id"] == "host-9"
    assert found["keys"] == list(host_keys("host-9"))
    assert refused(post(token)) == (410, "gone")
    assert actions()[-2:] == ["host.token", "host.join"]
    row = JoinToken.objects.get()
    assert row.used_at is not None
    assert token not in json.dumps([*AuditEvent.objects.values_list("data", flat=True)])
    assert token not in {row.token_hash, row.pk}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "token", ["", "psj_", "psj_00000000_" + "x" * 43, "x" * 200, "psj_\u0660" * 9, "a\nb"]
)
def test_a_wrong_token_opens_nothing(world, token):
    make()
    answer = post(token)
    assert answer.status_code in {404, 422}
    assert not HostKey.objects.filter(pk="host-9").exists()
    assert JoinToken.objects.filter(used_at=None).count() == 1


@pytest.mark.django_db
def test_one_that_is_too_old_or_was_revoked(world):
    token = make()
    JoinToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert refused(post(token)) == (410, "gone")
    token = make()
    host_tokens.token_revoke(
        token_id=JoinToken.objects.get(revoked_at=None, expires_at__gt=timezone.now()).pk,
        actor=ACTOR,
    )
    assert refused(post(token)) == (410, "gone")


@pytest.mark.django_db
def test_a_later_token_ends_the_one_before(world):
    first, second = make(), make()
    assert refused(post(first)) == (410, "gone")
    assert post(second).status_code == 200


@pytest.mark.django_db
def test_one_of_another_ensemble_is_refused_and_not_spent(world, settings):
    token = make()
    mine = settings.ZOOKEEPER
    settings.ZOOKEEPER = "other-1:2181,other-2:2181"
    assert refused(post(token)) == (409, "other-ensemble")
    settings.ZOOKEEPER = mine
    assert post(token).status_code == 200


@pytest.mark.django_db
def test_a_host_whose_agent_lives_is_nobody_elses(world):
    token = make("host-1")
    before = host_keys("host-1")
    assert refused(post(token)) == (409, "host-alive")
    assert host_keys("host-1") == before
    assert JoinToken.objects.get().used_at is None


@pytest.mark.django_db
def test_while_zookeeper_is_away_nothing_is_spent(world):
    token = make()
    world.hosts.is_away = True
    assert refused(post(token)) == (503, "zookeeper-away")
    world.hosts.is_away = False
    assert post(token).status_code == 200


@pytest.mark.django_db
def test_tokens_are_bounded(world, monkeypatch):
    monkeypatch.setattr(host_tokens, "TOKENS_OPEN_MAX", 1)
    make()
    with pytest.raises(Conflict, match="There are 1 open tokens"):
        make("host-8")
    make()


@pytest.mark.django_db(transaction=True)
def test_of_two_that_use_one_token_one_joins(world):
    token, answers = make(), []
    barrier = threading.Barrier(2)

    def use():
        barrier.wait()
        answers.append(post(token).status_code)
        connection.close()

    threads = [threading.Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [200, 410]


@pytest.mark.django_db
def test_tokens_are_operators(world):
    tenant, operator = client_for(world.tenant), operator_client(world.tenant)
    address = "/api/v1/operator/host-tokens"
    assert tenant.get(address).status_code == 404
    assert tenant.post(address, {"host_id": "host-9"}, format="json").status_code == 404
    made = operator.post(address, {"host_id": "host-9", "note": "rack b"}, format="json").json()
    assert made["state"] == "open"
    (row,) = operator.get(address).json()["data"]
    assert "token" not in row
    assert operator.delete(f"{address}/{row['id']}").status_code == 204
    assert operator.delete(f"{address}/{row['id']}").status_code == 404
    for wrong in ("", "../x", "a b", "h" * 101, "-x"):
        answer = operator.post(address, {"host_id": wrong}, format="json")
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/host_id")


# -- the host's side ----------------------------------------------------------------------------
def options(tmp_path, text, **changed):
    file = tmp_path / "token"
    file.write_text(f"{text}\n")
    said = {
        "server": "https://penstock.example", "token": str(file), "address": "10.0.0.9",
        "rack": None, "port_range": "9092-9191", "data_dir": "/var/lib/penstock-agent",
        "into": str(tmp_path / "etc"),
    }  # fmt: skip
    return argparse.Namespace(**{**said, **changed})


def ask(_address, body):
    answer = Client().post("/agents/join", body, "application/json")
    return answer.status_code, answer.content


@pytest.mark.django_db
def test_a_host_joins_and_opens_what_is_sealed_for_it(world, tmp_path):
    assert join(options(tmp_path, make()), ask) == "host-9"
    written = dict(
        line.split("=", 1) for line in (tmp_path / "etc" / ENV_FILE).read_text().splitlines()
    )
    assert written["PENSTOCK_HOST_ID"] == "host-9"
    assert written["PENSTOCK_HOST_RACK"] == "host-9"
    assert written["PENSTOCK_HOST_ZOOKEEPER_CONFIG"] == "", "this ZooKeeper asks nobody"
    key = tmp_path / "etc" / KEY_FILE
    assert Unsealer(key)(seal_for_host("host-9", {"a": "b"})) == {"a": "b"}
    assert key.stat().st_mode & 0o777 == 0o600


@pytest.mark.django_db
def test_a_host_gets_its_own_login_where_zookeeper_asks(world, tmp_path, settings):
    own = tmp_path / "control-plane.properties"
    files.write(own, {**CONNECTION, keys.SET_ACL: "true"})
    settings.ZOOKEEPER_CONFIG = str(own)
    with pytest.raises(JoinError, match="Hosts cannot join here: PENSTOCK_ZOOKEEPER_"):
        join(options(tmp_path, token := make()), ask)
    connection_file = tmp_path / "agents.properties"
    files.write(connection_file, CONNECTION)
    settings.ZOOKEEPER_AGENT_CONFIG = str(connection_file)
    join(options(tmp_path, token), ask)
    found = files.read_login(tmp_path / "etc" / LOGIN_FILE)
    assert (found[keys.ACL_USERNAME], found[keys.SASL_USERNAME]) == ("host-9", "agents")
    assert world.hosts.owners["host-9"].startswith("digest:host-9:")


@pytest.mark.django_db
def test_a_replayed_token_is_refused_in_one_line(world, tmp_path):
    given = options(tmp_path, make())
    join(given, ask)
    with pytest.raises(JoinError) as caught:
        join(given, ask)
    assert str(caught.value) == (
        "refused (410): The token was used or revoked, or its time is over: ask for another one."
    )
    assert caught.value.spent


def never(_address, _body):
    raise AssertionError("nothing may be asked")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"server": "http://penstock.example"}, "by https alone"),
        ({"server": "ftp://x"}, "expected https://"),
        ({"server": "https://x/y"}, "expected https://"),
        ({"server": "https://x:y"}, "--server"),
        ({"token": "/nowhere/token"}, "--token-file"),
        ({"into": "/proc/nowhere"}, "--into"),
    ],
)
def test_what_is_wrong_here_spends_no_token(tmp_path, changed, why):
    with pytest.raises(JoinError, match=why) as caught:
        join(options(tmp_path, "psj_00000000_" + "x" * 43, **changed), never)
    assert not caught.value.spent


@pytest.mark.parametrize("token", ["", "psi_x", "psj_1_x", "psj_00000000_" + "x" * 43 + "y\nz"])
def test_what_is_no_token_is_not_sent(tmp_path, token):
    with pytest.raises(JoinError, match="no join token"):
        join(options(tmp_path, token), never)


def test_a_host_of_another_ensemble_stays_there(tmp_path):
    (tmp_path / "etc").mkdir()
    settings = tmp_path / "etc" / ENV_FILE
    settings.write_text("PENSTOCK_ZOOKEEPER=zk-1:2181\n")
    with pytest.raises(JoinError, match="is of the ensemble zk-1:2181, the token of another"):
        join(options(tmp_path, "psj_00000000_" + "x" * 43), never)
    assert settings.read_text() == "PENSTOCK_ZOOKEEPER=zk-1:2181\n"


GOOD = {"host_id": "h", "zookeeper": "z:1", "zookeeper_settings": {}, "keys": ["k" * 44]}


@pytest.mark.parametrize(
    ("status", "answer"),
    [
        (200, b""),
        (200, b"[]"),
        (200, b"[" * 60_000),
        (200, b"x" * 65_537),
        (502, b"<html>"),
        *((200, json.dumps({**GOOD, **lie}).encode()) for lie in (
            {"host_id": "a\nPENSTOCK_X=1"}, {"host_id": 3}, {"zookeeper": ""}, {"keys": []},
            {"keys": ["a\nb" * 20]}, {"keys": "k" * 44}, {"zookeeper_settings": {"a": "b\nc"}},
            {"zookeeper_settings": []},
        )),
    ],
)  # fmt: skip
def test_an_answer_that_makes_no_sense_writes_nothing(tmp_path, status, answer):
    with pytest.raises(JoinError) as caught:
        join(options(tmp_path, "psj_00000000_" + "x" * 43), lambda *_: (status, answer))
    assert caught.value.spent
    assert list((tmp_path / "etc").iterdir()) == []
