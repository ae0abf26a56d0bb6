"""How an agent logs in to ZooKeeper, for itself and for the brokers that it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from zookeeper_access import files, keys
from zookeeper_access.settings import LentLogin, ZooKeeperAccess

if TYPE_CHECKING:
    from zookeeper_access.settings import Login


async def _open_to_all(_login: Login) -> None:
    """A ZooKeeper without ACLs asks for nobody's identity."""


class AgentZooKeeper:
    """What a broker's files get of the agent's own way in, and as which clusters the agent acts.

    `connection` lets a broker in: host-wide, without a right to any node. It never holds the host's
    own identity, so a broker cannot write what this host reports. The agent acts as a cluster while
    it has a broker of that cluster to fence, and not longer.
    """

    def __init__(
        self,
        connection: Mapping[str, str] | None = None,
        authenticate: Callable[[Login], Awaitable[None]] = _open_to_all,
        *,
        chroot: str = "",
    ) -> None:
        """`chroot` is the agent's own, "" for none: its session sees paths below it alone."""
        self.chroot: Final = chroot
        self.connection: Final = dict(connection or {})
        self._authenticate = authenticate
        self._used_by: dict[LentLogin, set[str]] = {}

    async def log_in_for(self, broker_key: str, secret: Mapping[str, str]) -> None:
        """Let the agent act as the broker's cluster too, so that it can fence. CoordinatorError.

        A login that the broker had before is kept with it: the process that is to be fenced may
        have registered by that one.
        """
        username = secret.get(keys.ACL_USERNAME)
        if not username:
            return
        wanted = LentLogin(username, secret.get(keys.ACL_PASSWORD, ""))
        login = next((each for each in self._used_by if each == wanted), wanted)
        users = self._used_by.setdefault(login, set())
        is_new = not users
        users.add(broker_key)
        if not is_new:
            return
        try:
            await self._authenticate(login)
        except BaseException:
            self._let_go(login, broker_key)
            raise

    def log_out_for(self, broker_key: str, *, but: Mapping[str, str] | None = None) -> None:
        """The broker needs no login any more, or none but that of the secret `but`.

        One that no other broker of this host needs either is taken back from the session.
        """
        kept = (but or {}).get(keys.ACL_USERNAME), (but or {}).get(keys.ACL_PASSWORD, "")
        for login, users in list(self._used_by.items()):
            if (login.username, login.password) != kept and broker_key in users:
                self._let_go(login, broker_key)

    def _let_go(self, login: LentLogin, broker_key: str) -> None:
        users = self._used_by[login]
        users.discard(broker_key)
        if not users:
            del self._used_by[login]
            login.take_back()


def read_access(file: str | None) -> tuple[ZooKeeperAccess, dict[str, str]]:
    """The agent's own access, and what of it brokers get; no file is no login. AccessError."""
    if not file:
        return ZooKeeperAccess(), {}
    settings = files.read_login(Path(file))
    access = ZooKeeperAccess.parse(settings)
    return access, {key: settings[key] for key in settings.keys() & keys.CONNECTION}
