"""A host's own login in ZooKeeper: made, and its nodes given to it."""

from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

from controlplane.clusters.hosts import hosts, zookeeper_access
from controlplane.clusters.zookeeper_tree import administrators
from controlplane.common.crypto import new_password
from zookeeper_access import files, keys
from zookeeper_access.settings import AccessError, Login, ZooKeeperAccess


def login_settings(
    access: ZooKeeperAccess, host_id: str, connection: Mapping[str, str]
) -> dict[str, str]:
    """The agent's file with a new password. `connection` lets agents and brokers in at all.

    Raises AccessError: it has no SASL login, or the host's name cannot be a user.
    """
    if ZooKeeperAccess.parse(dict(connection)).sasl is None:
        raise AccessError(keys.SASL_USERNAME, "is missing in the file that lets agents in")
    made = {
        **{key: value for key, value in connection.items() if key in keys.CONNECTION},
        keys.SET_ACL: "true",
        keys.ACL_USERNAME: host_id,
        keys.ACL_PASSWORD: new_password(),
        keys.ACL_ADMINISTRATORS: ",".join(administrators(access)),
    }
    ZooKeeperAccess.parse(made)
    return made


def admit(made: Mapping[str, str]) -> None:
    """Let who holds these settings be the host from now on. Raises HostsUnavailableError."""
    host_id = made[keys.ACL_USERNAME]
    hosts().admit_host(host_id, Login(host_id, made[keys.ACL_PASSWORD]).owner())


def admit_by_token(host_id: str) -> dict[str, str]:
    """Admit a host with a new login; no settings where ZooKeeper asks nobody who they are.

    Raises AccessError, HostsUnavailableError.
    """
    access = zookeeper_access()
    if not access.set_acl:
        return {}
    if not settings.ZOOKEEPER_AGENT_CONFIG:
        raise AccessError("PENSTOCK_ZOOKEEPER_AGENT_CONFIG", "names no file that lets agents in")
    made = login_settings(access, host_id, files.read(Path(settings.ZOOKEEPER_AGENT_CONFIG)))
    admit(made)
    return made
