"""What is sealed for hosts, in ZooKeeper: under which key it stands, and re-sealing it."""

from controlplane.clusters.hosts import hosts
from controlplane.clusters.models import Broker
from controlplane.common.crypto import keyring
from controlplane.common.keyring import KeyUse
from controlplane.common.sealed_values import Tally

DESIRED = "what is desired of hosts"


def tally_desired() -> Tally:
    """Read only. Raises HostsUnavailableError, KeysUnusableError."""
    return _walk(is_writing=False)


def reseal_desired() -> Tally:
    """Bring what hosts read under the first key; no broker restarts for it. May run twice.

    What an operation writes meanwhile stays: it is sealed with the first key already. Raises
    HostsUnavailableError, KeysUnusableError.
    """
    return _walk(is_writing=True)


def _walk(*, is_writing: bool) -> Tally:
    found = Tally()
    for broker in Broker.objects.order_by("pk"):
        keys = keyring()
        token = hosts().sealed_for((broker.host_id, broker.key))
        if not token:
            continue
        use = keys.use_of(token)
        if use is KeyUse.OLD and is_writing:
            key = (broker.host_id, broker.key)
            found.resealed += hosts().reseal(key, token, keys.reseal(token))
            use = KeyUse.CURRENT
        found.add(use)
    return found
