"""Puts a host agent together: the supervisor, real ZooKeeper, the real clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataplane.agent.main import run
from dataplane.runtime.os_clock import OsClock
from dataplane.runtime.parent_death import die_with_parent
from dataplane.runtime.zookeeper import ZooKeeperCoordinator

if TYPE_CHECKING:
    import argparse

    from dataplane.agent.main import AgentSession
    from dataplane.ports.coordinator import Coordinator
    from zookeeper_access.settings import ZooKeeperAccess

SESSION_TIMEOUT_MS = 10_000


async def _connect(
    connect_string: str, access: ZooKeeperAccess
) -> tuple[Coordinator, AgentSession]:
    session = await ZooKeeperCoordinator.connect(
        connect_string,
        session_timeout_ms=SESSION_TIMEOUT_MS,
        access=access,
        # A host with a login of its own owns its nodes alone; the control plane made what is above.
        makes_chroot=access.identity is None,
    )
    return session, session


def main(options: argparse.Namespace) -> int:
    """Run until SIGTERM or SIGINT. Brokers outlive a killed agent unless asked otherwise."""
    tied = bool(getattr(options, "brokers_die_with_agent", False))
    return run(
        options,
        connect=_connect,
        clock=OsClock(),
        preexec=die_with_parent() if tied else None,
    )
