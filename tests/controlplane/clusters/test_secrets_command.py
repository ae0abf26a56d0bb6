"""`manage.py secrets`: a whole rotation, in the database and in what hosts read."""

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from controlplane.administration.selectors import placement_preview
from controlplane.clusters.models import Cluster, HostKey
from controlplane.clusters.sealing import host_keyring, host_keys
from controlplane.common.crypto import seal, unseal
from controlplane.common.keyfiles import key_from_file, keys_in_file, new_key, write_keys
from controlplane.common.keyring import Keyring, KeyUse, SecretUnreadableError
from controlplane.common.problems import Conflict
from controlplane.operations.models import Operation
from dataplane.agent.secrets import SecretError, Unsealer
from tests.controlplane.support import drive, only_on, step


@pytest.fixture
def key_file(settings, tmp_path):
    """The deployment's keys in a file; the hosts' are sealed with them."""
    settings.FERNET_KEYS = []
    settings.FERNET_KEY_FILE = tmp_path / "fernet.key"
    key_from_file(settings.FERNET_KEY_FILE)
    return settings.FERNET_KEY_FILE


@pytest.fixture
def service(key_file, world):
    HostKey.objects.all().delete()
    for host in world.hosts.known:
        host_keys(host.host_id)
    return world


def manage(action, *arguments):
    out = io.StringIO()
    call_command("secrets", action, *arguments, stdout=out)
    return out.getvalue()


def sealed(world):
    return {key: spec["secret"] for key, spec in world.hosts.desired.items()}


def test_a_whole_rotation(key_file, service):
    made = service.run("cluster.create", None, name="made", broker_count=2)
    [old] = keys_in_file(key_file)
    assert "Cluster.secrets_token: 1 current, 0 old, 0 unreadable" in manage("check")
    assert "2 keys; the first one seals" in manage("add-key")
    manage("check")
    manage("use-newest")
    # The cluster's, its two brokers' for TLS, and the keys of three hosts.
    with pytest.raises(CommandError, match="6 values use an old key") as caught:
        manage("check")
    assert caught.value.returncode == 1
    with pytest.raises(CommandError, match="nothing dropped: 6 values"):
        manage("drop-old")
    before = sealed(service)
    said = manage("reseal")
    assert "HostKey.sealed_keys: 3 current, 0 old, 0 unreadable; 3 re-sealed now" in said
    assert "re-sealed" not in manage("reseal")
    assert "1 key dropped" in manage("drop-old")
    [new] = keys_in_file(key_file)
    assert new != old
    # What hosts read stands under their own keys, which are the same as before.
    assert sealed(service) == before
    password = unseal(Cluster.objects.get(pk=made.cluster_id).secrets_token)["broker"]
    assert {
        secret["penstock.inter.broker.password"]
        for secret in service.opened(made.cluster_id).values()
    } == {password}


def test_the_newest_key_is_chosen_once(key_file, service):
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


def test_a_missing_key_is_said_and_nothing_is_dropped(key_file, service):
    service.run("cluster.create", None, name="made", broker_count=1)
    [old] = keys_in_file(key_file)
    write_keys(key_file, [new_key()])
    # Three hosts' keys, the cluster's and its broker's, and what one host reads.
    with pytest.raises(CommandError, match="6 values open with no key"):
        manage("reseal")
    write_keys(key_file, [*keys_in_file(key_file), old])
    assert "re-sealed now" in manage("reseal")


def test_keys_of_the_environment_are_not_changed_here(settings, world):
    settings.FERNET_KEYS = [new_key()]
    with pytest.raises(CommandError, match="PENSTOCK_FERNET_KEY"):
        manage("add-key")


def test_zookeeper_away_is_one_line(service):
    service.run("cluster.create", None, name="made", broker_count=1)
    service.hosts.is_away = True
    with pytest.raises(CommandError, match="ZooKeeper: "):
        manage("check")


def test_what_is_written_for_one_host_opens_with_its_key_alone(service, tmp_path):
    """With the agents' own code, by the files that they get."""
    made = service.run("cluster.create", None, name="made", broker_count=3)
    openers = {}
    for host in service.hosts.known:
        file = tmp_path / f"{host.host_id}.key"
        manage("host-key", host.host_id, "--file", str(file))
        assert file.stat().st_mode & 0o777 == 0o600
        openers[host.host_id] = Unsealer(file)
    deployment = Unsealer(tmp_path / "fernet.key")
    cluster = Cluster.objects.get(pk=made.cluster_id)
    password = unseal(cluster.secrets_token)["broker"]
    assert len(sealed(service)) == 3
    for (host_id, _), token in sealed(service).items():
        assert openers[host_id](token)["penstock.inter.broker.password"] == password
        others = [opener for name, opener in openers.items() if name != host_id]
        for opener in (*others, deployment):
            with pytest.raises(SecretError, match="another key"):
                opener(token)
    # What stands in the database is no host's to open either.
    for opener in openers.values():
        with pytest.raises(SecretError, match="another key"):
            opener(cluster.secrets_token)


def test_a_clusters_secrets_reach_hosts_of_its_brokers_and_leave_with_the_last(service):
    only_on("host-1", world=service)
    made = service.run("cluster.create", None, name="made", broker_count=2)
    only_on("host-2", world=service)
    other = service.run("cluster.create", None, name="other", broker_count=1)
    mine = unseal(Cluster.objects.get(pk=made.cluster_id).secrets_token)
    for (host_id, _), spec in service.hosts.desired.items():
        opened = host_keyring(host_id).unseal(spec["secret"]).decode()
        assert (mine["broker"] in opened) == (host_id == "host-1")
        # The administrator's password is no broker's; a hash of it is.
        assert mine["admin"] not in opened
        assert all(secret not in str(spec["config"]) for secret in mine.values())
    removed = []
    forget = service.hosts.forget_broker

    def forgetting(key):
        removed.append(host_keyring(key[0]).unseal(service.hosts.desired[key]["secret"]))
        forget(key)

    service.hosts.forget_broker = forgetting
    service.run("cluster.delete", made.cluster_id)
    # Already while it is being removed, before its node goes.
    assert len(removed) == 2
    assert all(b"penstock" not in opened for opened in removed)
    assert {spec["cluster_id"] for spec in service.hosts.desired.values()} == {other.cluster_id}


def test_replacing_a_hosts_key(service, tmp_path):
    only_on("host-1", world=service)
    service.run("cluster.create", None, name="made", broker_count=2)
    file = tmp_path / "host-1.key"
    manage("host-key", "host-1", "--file", str(file))
    [old] = keys_in_file(file)
    before, others = sealed(service), host_keyring("host-2").seal(b"theirs")
    manage("host-key", "host-1", "--file", str(file), "--add")
    assert keys_in_file(file)[0] == old
    manage("host-key", "host-1", "--file", str(file), "--add")
    opener, both = Unsealer(file), keys_in_file(file)
    assert len(both) == 2
    assert sealed(service) == before
    said = manage("host-key", "host-1", "--file", str(file), "--use-newest")
    assert "2 current, 0 old, 0 unreadable; 2 re-sealed now" in said
    assert keys_in_file(file) == (both[1],)
    for token in sealed(service).values():
        with pytest.raises(SecretUnreadableError):
            Keyring([old]).unseal(token)
        # An agent that holds both, and one that follows its file.
        assert Keyring(both).use_of(token) is KeyUse.OLD
        assert opener(token)
    assert host_keyring("host-2").use_of(others) is KeyUse.CURRENT
    with pytest.raises(CommandError, match="no key waits for host host-1"):
        manage("host-key", "host-1", "--file", str(file), "--use-newest")
    manage("check")


def test_what_was_sealed_before_there_were_keys_of_hosts_is_taken_over(service, tmp_path):
    """A data directory of the release before: one key for all, and none of the host's."""
    only_on("host-1", world=service)
    service.run("cluster.create", None, name="made", broker_count=1)
    [(key, spec)] = service.hosts.desired.items()
    opened = host_keyring("host-1").unseal(spec["secret"]).decode()
    HostKey.objects.all().delete()
    service.hosts.desired[key] = {**spec, "secret": seal(json.loads(opened))}
    with pytest.raises(CommandError, match="1 values use an old key"):
        manage("check")
    with pytest.raises(CommandError, match="1 values use an old key"):
        manage("reseal")
    file = tmp_path / "host-1.key"
    assert "1 re-sealed now" in manage("host-key", "host-1", "--file", str(file))
    assert Unsealer(file)(service.hosts.desired[key]["secret"]) == json.loads(opened)
    assert service.hosts.desired[key] == {**spec, "secret": service.hosts.desired[key]["secret"]}
    manage("check")


def test_nothing_is_placed_on_a_host_without_a_key(service):
    HostKey.objects.filter(pk="host-2").delete()
    made = service.run("cluster.create", None, name="made", broker_count=3)
    assert made.state == "succeeded"
    assert {host_id for host_id, _ in service.hosts.desired} == {"host-1", "host-3"}
    only_on("host-2", world=service)
    with pytest.raises(Conflict, match=r"There is room for 0 of 1 broker\."):
        service.plan("cluster.create", None, name="second", broker_count=1)
    (row,) = [row for row in placement_preview(1)["refused"] if row["host_id"] == "host-2"]
    assert row["code"] == "no-key"


def test_a_step_waits_for_a_hosts_key(service, tmp_path):
    only_on("host-1", world=service)
    made = service.run("cluster.create", None, name="made", broker_count=1)
    HostKey.objects.all().delete()
    operation = drive(service.start(service.plan("cluster.delete", made.cluster_id)), ticks=3)
    assert "host host-1 has no key of its own" in step(operation, "remove").detail
    manage("host-key", "host-1", "--file", str(tmp_path / "host-1.key"))
    Operation.objects.filter(pk=operation.pk).update(next_run_at=timezone.now())
    assert drive(operation).state == "succeeded"


@pytest.mark.parametrize("name", ["", "../x", "a b", "h" * 101])
def test_a_name_that_is_no_hosts_is_refused(world, tmp_path, name):
    with pytest.raises(CommandError, match="cannot be a host's name"):
        manage("host-key", name, "--file", str(tmp_path / "k"))
    assert list(tmp_path.iterdir()) == []
