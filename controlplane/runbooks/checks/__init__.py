"""The registry of checks: nothing else can be run from a runbook."""

from collections.abc import Mapping

from controlplane.runbooks.checks import cluster, groups, service
from controlplane.runbooks.checks.base import Asked, Check

__all__ = ["CHECKS", "Asked", "Check"]

CHECKS: Mapping[str, Check] = {
    check.name: check for check in (*cluster.CHECKS, *groups.CHECKS, *service.CHECKS)
}
