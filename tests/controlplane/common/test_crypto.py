"""Keys that seal and open, the file they stand in, and the columns that hold what they sealed."""

import json

import pytest
from cryptography.fernet import Fernet
from django.apps import apps
from django.db import connection

from controlplane.clusters.models import Cluster
from controlplane.common import sealed_values
from controlplane.common.crypto import TOKEN_BEGINS, seal, unseal
from controlplane.common.fields import SealedField
from controlplane.common.keyfiles import (
    KeyMissingError,
    key_from_file,
    keys_in_file,
    new_key,
    write_keys,
)
from controlplane.common.keyring import (
    Keyring,
    KeysUnusableError,
    KeyUse,
    SecretUnreadableError,
    followed,
)
from controlplane.messages.services import registry_set
from tests.controlplane.support import ACTOR, client_for, cluster_make, tenant_make

OLD, NEW, OTHER = new_key(), new_key(), new_key()


def test_the_first_key_seals_and_all_open():
    before = Keyring([OLD]).seal(b"s")
    both = Keyring([NEW, OLD])
    assert both.unseal(before) == b"s"
    assert Keyring([NEW]).unseal(both.seal(b"t")) == b"t"
    assert [both.use_of(token) for token in (both.seal(b"t"), before, "gAAAAAx")] == [
        KeyUse.CURRENT,
        KeyUse.OLD,
        KeyUse.UNREADABLE,
    ]
    assert Keyring([NEW]).unseal(both.reseal(before)) == b"s"
    with pytest.raises(SecretUnreadableError):
        Keyring([OTHER]).unseal(before)
    with pytest.raises(SecretUnreadableError):
        Keyring([OTHER]).reseal(before)


@pytest.mark.parametrize("keys", [[], ["short"], [NEW, ""]])
def test_what_is_no_key_is_refused_without_showing_it(keys):
    with pytest.raises(KeysUnusableError) as caught:
        Keyring(keys)
    assert all(key not in str(caught.value) for key in keys if key)


def test_a_running_process_follows_the_file(tmp_path):
    file = tmp_path / "fernet.key"
    first = key_from_file(file)
    current = followed(file)
    before = current().seal(b"s")
    assert current() is current()
    write_keys(file, [NEW, first])
    assert current().use_of(before) is KeyUse.OLD
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_text("\n")
    with pytest.raises(KeysUnusableError, match="holds no key"):
        current()
    file.unlink()
    with pytest.raises(KeysUnusableError, match="No such file"):
        current()
    assert [path.name for path in tmp_path.iterdir()] == []


def test_a_further_host_makes_no_key_of_its_own(tmp_path):
    file = tmp_path / "secret.key"
    with pytest.raises(KeyMissingError, match="bring the file of the service's first host"):
        key_from_file(file, make=False)
    assert not list(tmp_path.iterdir())
    assert key_from_file(file) == key_from_file(file, make=False)


def test_a_key_that_waits_opens_and_does_not_seal(tmp_path):
    file = tmp_path / "fernet.key"
    write_keys(file, [OLD, f"+{NEW}"])
    assert keys_in_file(file) == (OLD, NEW)
    keys = followed(file)()
    assert Keyring([OLD]).unseal(keys.seal(b"s")) == b"s"
    assert keys.unseal(Keyring([NEW]).seal(b"t")) == b"t"


@pytest.mark.django_db
def test_a_column_for_sealed_values_takes_nothing_else():
    cluster = cluster_make(tenant_make(), secrets_token=seal({"admin": "p"}))
    cluster.secrets_token = json.dumps({"admin": "hunter2"})
    with pytest.raises(
        ValueError, match=r"Cluster\.secrets_token takes sealed values only"
    ) as caught:
        cluster.save()
    assert "hunter2" not in str(caught.value)
    with pytest.raises(ValueError, match="sealed values only"):
        Cluster.objects.update(secrets_token="hunter2")


def columns_with_a_token():
    """Model and column of every value in the database that holds what Fernet made."""
    found = set()
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.concrete_fields:
            quote = connection.ops.quote_name
            with connection.cursor() as cursor:
                # As stored, so that also a token inside JSON is found.
                cursor.execute(
                    f"SELECT CAST({quote(field.column)} AS TEXT) FROM {quote(model._meta.db_table)}"
                )
                if any(TOKEN_BEGINS in (text or "") for (text,) in cursor):
                    found.add((model, field.name))
    return found


def test_every_column_that_holds_a_sealed_value_is_found_by_re_sealing(world):
    """What the service really writes, column by column, against what the models declare."""
    world.run("cluster.create", None, name="made", broker_count=1)
    way_in = {
        "bootstrap_servers": "a:1",
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "PLAIN",
        "username": "u",
        "password": "hunter2",
    }
    world.run("cluster.register", None, name="taken", **way_in)
    world.plan("cluster.register", None, name="open", **way_in)
    world.run("user.create", username="app")
    client_for(world.tenant).post(
        "/api/v1/api-keys", {"name": "ci"}, format="json", headers={"Idempotency-Key": "once"}
    )
    hook = {
        "name": "hook",
        "kind": "webhook",
        "config": {"url": "https://hooks.example.org/"},
        "secrets": {"signing_secret": "s" * 24},
    }
    made = client_for(world.tenant).post("/api/v1/destinations", hook, format="json")
    assert made.status_code == 201
    registry_set(
        cluster=world.cluster,
        actor=ACTOR,
        values={"url": "https://schemas:8081", "username": "u", "password": "p", "ca_pem": ""},
    )
    declared = set(sealed_values.sealed_columns())
    assert columns_with_a_token() == declared
    assert len(declared) >= 3


@pytest.mark.django_db
def test_re_sealing_brings_all_under_the_first_key_and_may_run_twice(settings, monkeypatch):
    monkeypatch.setattr(sealed_values, "PAGE_ROWS", 2)
    column = Cluster, "secrets_token"
    tenant = tenant_make()
    settings.FERNET_KEYS = [OLD]
    made = [cluster_make(tenant, f"c{n}", secrets_token=seal({"n": n})) for n in range(5)]
    cluster_make(tenant, "empty")
    settings.FERNET_KEYS = [OTHER]
    cluster_make(tenant, "foreign", secrets_token=seal({"n": 9}))
    settings.FERNET_KEYS = [NEW, OLD]
    cluster_make(tenant, "fresh", secrets_token=seal({"n": 7}))
    counts = sealed_values.tally(column)
    assert (counts.current, counts.old, counts.unreadable) == (1, 5, 1)
    counts = sealed_values.reseal(column)
    assert (counts.current, counts.old, counts.unreadable, counts.resealed) == (6, 0, 1, 5)
    assert sealed_values.reseal(column).resealed == 0
    settings.FERNET_KEYS = [NEW]
    for n, row in enumerate(made):
        row.refresh_from_db()
        assert unseal(row.secrets_token) == {"n": n}
    assert not sealed_values.tally(column).is_clean


@pytest.mark.django_db
def test_re_sealing_stopped_half_way_goes_on(settings, monkeypatch):
    tenant = tenant_make()
    settings.FERNET_KEYS = [OLD]
    for n in range(4):
        cluster_make(tenant, f"c{n}", secrets_token=seal({"n": n}))
    settings.FERNET_KEYS = [NEW, OLD]
    rotate, done = Keyring.reseal, []

    def stops(self, token):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(token)
        return rotate(self, token)

    monkeypatch.setattr(Keyring, "reseal", stops)
    with pytest.raises(KeyboardInterrupt):
        sealed_values.reseal((Cluster, "secrets_token"))
    monkeypatch.setattr(Keyring, "reseal", rotate)
    counts = sealed_values.reseal((Cluster, "secrets_token"))
    assert (counts.current, counts.old, counts.resealed) == (4, 0, 2)


@pytest.mark.django_db
def test_a_value_written_meanwhile_is_not_overwritten(settings, monkeypatch):
    settings.FERNET_KEYS = [OLD]
    row = cluster_make(tenant_make(), secrets_token=seal({"n": 1}))
    settings.FERNET_KEYS = [NEW, OLD]
    rotate = Keyring.reseal

    def raced(self, token):
        Cluster.objects.filter(pk=row.pk).update(secrets_token=seal({"n": 2}))
        return rotate(self, token)

    monkeypatch.setattr(Keyring, "reseal", raced)
    assert sealed_values.reseal((Cluster, "secrets_token")).resealed == 0
    row.refresh_from_db()
    assert unseal(row.secrets_token) == {"n": 2}


def test_keys_are_fernets():
    assert Fernet(new_key())
    assert SealedField().deconstruct()[1] == "django.db.models.TextField"
