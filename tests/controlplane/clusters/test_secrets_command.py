"""`manage.py secrets`: a whole rotation, in the database and in what hosts read."""

import io

import pytest
from django.core.management import CommandError, call_command

from controlplane.clusters.models import Cluster
from controlplane.common.crypto import unseal
from controlplane.common.keyfiles import key_from_file, keys_in_file, write_keys
from controlplane.common.keyring import Keyring


@pytest.fixture
def key_file(settings, tmp_path):
    settings.FERNET_KEYS = []
    settings.FERNET_KEY_FILE = tmp_path / "fernet.key"
    key_from_file(settings.FERNET_KEY_FILE)
    return settings.FERNET_KEY_FILE


def manage(action):
    out = io.StringIO()
    call_command("secrets", action, stdout=out)
    return out.getvalue()


def test_a_whole_rotation(key_file, world):
    made = world.run("cluster.create", None, name="made", broker_count=2)
    [old] = keys_in_file(key_file)
    assert "Cluster.secrets_token: 1 current, 0 old, 0 unreadable" in manage("check")
    assert "2 keys; the first one seals" in manage("add-key")
    manage("check")
    manage("use-newest")
    with pytest.raises(CommandError, match="3 values use an old key") as caught:
        manage("check")
    assert caught.value.returncode == 1
    with pytest.raises(CommandError, match="nothing dropped: 3 values"):
        manage("drop-old")
    generations = [spec["generation"] for spec in world.hosts.desired.values()]
    said = manage("reseal")
    assert "what is desired of hosts: 2 current, 0 old, 0 unreadable; 2 re-sealed now" in said
    assert "re-sealed" not in manage("reseal")
    assert "1 keys dropped" in manage("drop-old")
    [new] = keys_in_file(key_file)
    assert new != old
    # Nothing restarts: what is desired is the same generation, and the secrets are the same ones.
    assert [spec["generation"] for spec in world.hosts.desired.values()] == generations
    password = unseal(Cluster.objects.get(pk=made.cluster_id).secrets_token)["broker"]
    for spec in world.hosts.desired.values():
        assert password in Keyring([new]).unseal(spec["secret"]).decode()


def test_the_newest_key_is_chosen_once(key_file, world):
    first = keys_in_file(key_file)
    with pytest.raises(CommandError, match="no key waits"):
        manage("use-newest")
    assert keys_in_file(key_file) == first
    manage("add-key")
    manage("use-newest")
    chosen = keys_in_file(key_file)
    with pytest.raises(CommandError, match="no key waits"):
        manage("use-newest")
    assert keys_in_file(key_file) == chosen


def test_a_missing_key_is_said_and_nothing_is_dropped(key_file, world):
    world.run("cluster.create", None, name="made", broker_count=1)
    [old] = keys_in_file(key_file)
    write_keys(key_file, ["A" * 43 + "="])
    with pytest.raises(CommandError, match="2 values open with no key"):
        manage("reseal")
    write_keys(key_file, ["A" * 43 + "=", old])
    assert "re-sealed now" in manage("reseal")


def test_keys_of_the_environment_are_not_changed_here(settings, db):
    settings.FERNET_KEYS = ["A" * 43 + "="]
    with pytest.raises(CommandError, match="PENSTOCK_FERNET_KEY"):
        manage("add-key")


def test_zookeeper_away_is_one_line(key_file, world):
    world.run("cluster.create", None, name="made", broker_count=1)
    world.hosts.is_away = True
    with pytest.raises(CommandError, match="ZooKeeper: "):
        manage("check")
