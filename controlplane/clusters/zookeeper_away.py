"""What people are told of a ZooKeeper that does not answer, or refuses: that, and no more.

Why names logins, ensembles and commands of the platform, and reaches tenants by plans, pages and
steps: it is in the log alone, for operators.
"""

import logging
from typing import Final

from controlplane.clusters.hosts import HostsUnavailableError
from controlplane.common.problems import Unavailable
from controlplane.operations.details import detail_of
from controlplane.operations.operations import StepRetryError

SAID: Final = detail_of("zookeeper/away")
CODE: Final = "zookeeper-away"
log = logging.getLogger(__name__)


def away(error: HostsUnavailableError) -> Unavailable:
    """For a page or a plan (503)."""
    _noted(error)
    return Unavailable(SAID, code=CODE)


def asked_again(error: HostsUnavailableError) -> StepRetryError:
    """For a step of an operation."""
    _noted(error)
    return StepRetryError(SAID)


def _noted(error: HostsUnavailableError) -> None:
    log.warning("ZooKeeper does not answer: %s", error)
