"""What is sealed for hosts, each under a key of its own, and bringing that under the first one.

A host opens what is written for it and nothing else: neither what another host reads, nor what
stands sealed in the database. Before there were keys of hosts the deployment's were used; what was
written then is opened here and sealed again.
"""

import json
from collections.abc import Collection, Mapping

from django.db import transaction

from controlplane.clusters.hosts import hosts
from controlplane.clusters.models import Broker, HostKey
from controlplane.common.crypto import keyring, seal, unseal
from controlplane.common.keyfiles import new_key
from controlplane.common.keyring import Keyring, KeyUse, SecretUnreadableError
from controlplane.common.sealed_values import Tally

DESIRED = "what is desired of hosts"
NO_KEY = "host {} has no key of its own; `manage.py secrets host-key` makes it"
KEYS_MAX = 5


class NoHostKeyError(Exception):
    """Nothing may be sealed for a host before it has a key; the message names the host.

    Attributes:
        hosts: their ids, with `, ` between them.
    """

    def __init__(self, hosts: str) -> None:
        super().__init__(NO_KEY.format(hosts))
        self.hosts = hosts


def seal_for_host(host_id: str, values: Mapping[str, str]) -> str:
    """`values` as one token that this host alone opens. Raises NoHostKeyError."""
    return sealed_with(host_keyring(host_id), values)


def sealed_with(keys: Keyring, values: Mapping[str, str]) -> str:
    """`values` as one token, with a host's keys."""
    return keys.seal(json.dumps(dict(values), sort_keys=True).encode())


def open_for_host(host_id: str, token: str) -> dict[str, str]:
    """What `seal_for_host` sealed. Raises NoHostKeyError, SecretUnreadableError."""
    opened: dict[str, str] = json.loads(host_keyring(host_id).unseal(token))
    return opened


def host_keyring(host_id: str) -> Keyring:
    """Raises NoHostKeyError, SecretUnreadableError."""
    row = HostKey.objects.filter(pk=host_id).first()
    if row is None:
        raise NoHostKeyError(host_id)
    return Keyring(_openers(unseal(row.sealed_keys)))


def host_keyrings(host_ids: Collection[str]) -> dict[str, Keyring]:
    """Of several hosts by one statement. Raises NoHostKeyError, SecretUnreadableError."""
    rows = HostKey.objects.in_bulk(list(host_ids))
    if missing := sorted(set(host_ids) - set(rows)):
        raise NoHostKeyError(", ".join(missing))
    return {host_id: Keyring(_openers(unseal(row.sealed_keys))) for host_id, row in rows.items()}


def hosts_with_key() -> set[str]:
    return set(HostKey.objects.values_list("pk", flat=True))


def hosts_without_key() -> list[str]:
    """Hosts of brokers that nothing can be written for."""
    return sorted(set(Broker.objects.values_list("host_id", flat=True)) - hosts_with_key())


@transaction.atomic
def host_keys(host_id: str, *, is_adding: bool = False) -> tuple[str, ...]:
    """What the host's file holds: its keys, the first of which seals; made where there is none.

    Args:
        host_id: need not have an agent yet.
        is_adding: also one that opens, and seals once `use_newest_host_key` says so.

    Raises:
        ValueError: the host has `KEYS_MAX` keys already.
    """
    row, is_new = HostKey.objects.select_for_update().get_or_create(
        pk=host_id, defaults={"sealed_keys": seal({"keys": [new_key()], "waiting": ""})}
    )
    held = unseal(row.sealed_keys)
    if is_adding and not is_new and not held["waiting"]:
        if len(held["keys"]) >= KEYS_MAX:
            raise ValueError(f"host {host_id} has {KEYS_MAX} keys; re-seal first")
        held["waiting"] = new_key()
        row.sealed_keys = seal(held)
        row.save()
    return _openers(held)


@transaction.atomic
def use_newest_host_key(host_id: str) -> None:
    """The key that waits seals from now on. Raises NoHostKeyError, ValueError when none waits."""
    row = HostKey.objects.select_for_update().filter(pk=host_id).first()
    if row is None:
        raise NoHostKeyError(host_id)
    held = unseal(row.sealed_keys)
    if not held["waiting"]:
        raise ValueError(f"no key waits for host {host_id}: add one first")
    row.sealed_keys = seal({"keys": [held["waiting"], *held["keys"]], "waiting": ""})
    row.save()


@transaction.atomic
def drop_old_host_keys(host_id: str) -> int:
    """Forget all but the first, once nothing in ZooKeeper needs them; how many went."""
    row = HostKey.objects.select_for_update().get(pk=host_id)
    held = unseal(row.sealed_keys)
    first, *older = held["keys"]
    row.sealed_keys = seal({**held, "keys": [first]})
    row.save()
    return len(older)


def tally_desired(host_id: str | None = None) -> Tally:
    """Of one host or of all; read only. Raises HostsUnavailableError, KeysUnusableError."""
    return _walk(host_id, is_writing=False)


def reseal_desired(host_id: str | None = None) -> Tally:
    """Bring what hosts read under their first keys; no broker restarts for it. May run twice.

    What an operation writes meanwhile stays: it is sealed with the first key already. Raises
    HostsUnavailableError, KeysUnusableError.
    """
    return _walk(host_id, is_writing=True)


def _walk(host_id: str | None, *, is_writing: bool) -> Tally:
    found = Tally()
    rows = Broker.objects.order_by("pk")
    for broker in rows if host_id is None else rows.filter(host_id=host_id):
        key = broker.host_id, broker.key
        token = hosts().sealed_for(key)
        if not token:
            continue
        use, renewed = _judge(broker.host_id, token)
        if renewed and is_writing:
            found.resealed += hosts().reseal(key, token, renewed)
            use = KeyUse.CURRENT
        found.add(use)
    return found


def _judge(host_id: str, token: str) -> tuple[KeyUse, str]:
    """Under which key a host's token stands, and the same under its first key if that is another.

    Without a key of the host what stands under the deployment's is old, and stays.
    """
    try:
        keys = host_keyring(host_id)
    except NoHostKeyError:
        is_ours = keyring().use_of(token) is not KeyUse.UNREADABLE
        return (KeyUse.OLD if is_ours else KeyUse.UNREADABLE), ""
    except SecretUnreadableError:
        return KeyUse.UNREADABLE, ""
    use = keys.use_of(token)
    if use is KeyUse.CURRENT:
        return use, ""
    try:
        opened = (keys if use is KeyUse.OLD else keyring()).unseal(token)
    except SecretUnreadableError:
        return KeyUse.UNREADABLE, ""
    return KeyUse.OLD, keys.seal(opened)


def _openers(held: dict[str, object]) -> tuple[str, ...]:
    keys, waiting = held["keys"], held["waiting"]
    assert isinstance(keys, list)  # noqa: S101 - we wrote it
    return (*keys, *([str(waiting)] if waiting else []))
