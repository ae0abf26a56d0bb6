"""`manage.py zookeeper prepare|host|protect|rotate-cluster|adopt`: whose nodes and trees are."""

import contextlib
import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from controlplane.clusters import home_tree
from controlplane.clusters.admission import admit, login_settings
from controlplane.clusters.hosts import HostsUnavailableError, hosts, zookeeper_access
from controlplane.clusters.models import MANAGED, Cluster
from controlplane.clusters.protection import ProtectionError, protect
from controlplane.clusters.reconnecting import reconnect_at_once
from controlplane.clusters.rotation import rotate
from controlplane.common.problems import Problem
from controlplane.common.words import counted
from controlplane.operations.operations import StepRetryError
from zookeeper_access import files, keys
from zookeeper_access.settings import AccessError, ZooKeeperAccess

HOST_NAME_MAX = 100
BROKER_TIMEOUT_S = 300.0


class Command(BaseCommand):
    help = (
        "Close the nodes in ZooKeeper to everybody but their owners, or go over to another"
        " ensemble; every part may run again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        prepare = actions.add_parser("prepare", help="the nodes above hosts and clusters")
        prepare.add_argument(
            "--whole-server",
            action="store_true",
            help="also / and /zookeeper, where ZooKeeper serves nothing but Penstock",
        )
        host = actions.add_parser(
            "host", help="admit a host, or replace its login: writes the agent's file"
        )
        host.add_argument("host_id")
        host.add_argument(
            "--connection",
            type=Path,
            required=True,
            help="file with the SASL login and TLS that let agents and brokers in",
        )
        host.add_argument("--file", type=Path, required=True, help="the agent's file, made here")
        protect = actions.add_parser(
            "protect", help="close the nodes of clusters that were made before there were logins"
        )
        protect.add_argument("cluster_id", nargs="*", help="managed clusters; none: all")
        protect.add_argument(
            "--stopped",
            action="store_true",
            help="no broker runs: nothing to restart one by one and to wait for",
        )
        rotate = actions.add_parser(
            "rotate-cluster",
            help="replace a cluster's login, restarting its brokers one by one, three times",
        )
        rotate.add_argument("cluster_id", nargs="+", help="managed clusters")
        reconnect = actions.add_parser(
            "reconnect",
            help="clusters that are down as the ensemble's members of before are gone: restart all"
            " brokers at once with the connect string of their agents",
        )
        reconnect.add_argument("cluster_id", nargs="+", help="managed clusters")
        actions.add_parser(
            "adopt",
            help="where the ensemble of before is lost for good: belong to that of"
            " PENSTOCK_ZOOKEEPER; agents need --adopt-ensemble once",
        )
        for one in (protect, rotate):
            one.add_argument(
                "--timeout-s",
                type=float,
                default=BROKER_TIMEOUT_S,
                help="how long one broker may take to come back in sync",
            )

    def handle(self, *_: Any, action: str, **options: Any) -> None:
        try:
            if action == "adopt":
                self._adopt()
                return
            if action == "reconnect":
                self._reconnect(options["cluster_id"])
                return
            access = zookeeper_access()
            if not access.set_acl or access.sasl is None:
                raise CommandError(
                    f"PENSTOCK_ZOOKEEPER_CONFIG names no file with {keys.SET_ACL}=true and a"
                    f" {keys.SASL_USERNAME}"
                )
            with contextlib.closing(hosts()):
                self._carry_out(action, access, options)
        except AccessError as error:
            raise CommandError(str(error)) from error
        except (HostsUnavailableError, StepRetryError) as error:
            raise CommandError(f"ZooKeeper: {error}") from error
        except Problem as problem:
            raise CommandError(problem.detail) from problem
        except ProtectionError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}") from error

    def _adopt(self) -> None:
        home_tree.forget()
        with contextlib.closing(hosts()):
            self.stdout.write(json.dumps({"ensemble": hosts().ensemble()}))

    def _reconnect(self, wanted: list[str]) -> None:
        with contextlib.closing(hosts()):
            for cluster in _managed(wanted):
                brokers = reconnect_at_once(cluster)
                self.stdout.write(f"{cluster.name}: {counted(brokers, 'broker')} start again")

    def _carry_out(self, action: str, access: ZooKeeperAccess, options: dict[str, Any]) -> None:
        if action == "prepare":
            hosts().prepare(whole_server=options["whole_server"])
            self.stdout.write("the nodes above hosts and clusters are closed")
        elif action == "protect":
            self._protect(options["cluster_id"], options["stopped"], options["timeout_s"])
        elif action == "rotate-cluster":
            for cluster in _managed(options["cluster_id"]):
                rotate(cluster, timeout_s=options["timeout_s"], say=self.stdout.write)
        else:
            self._admit(access, options["host_id"], options["connection"], options["file"])

    def _protect(self, wanted: list[str], is_stopped: bool, timeout_s: float) -> None:
        for cluster in _managed(wanted):
            protect(cluster, is_stopped=is_stopped, timeout_s=timeout_s, say=self.stdout.write)

    def _admit(self, access: ZooKeeperAccess, host_id: str, connection: Path, target: Path) -> None:
        """The file comes first: a directory that cannot be written locks nobody out."""
        if len(host_id) > HOST_NAME_MAX:
            raise CommandError(f"a host's name has at most {HOST_NAME_MAX} characters")
        try:
            made = login_settings(access, host_id, files.read(connection))
        except AccessError as error:
            if error.key == keys.SASL_USERNAME:
                raise CommandError(f"{connection} has no {keys.SASL_USERNAME}") from error
            raise
        pending = target.with_name(f"{target.name}.new")
        files.write(pending, made)
        try:
            admit(made)
            pending.replace(target)
        finally:
            pending.unlink(missing_ok=True)
        self.stdout.write(json.dumps({"host_id": host_id, "file": str(target)}))


def _managed(wanted: list[str]) -> list[Cluster]:
    """The managed clusters of these ids, or all. Raises CommandError for one that is not there."""
    rows = Cluster.objects.filter(kind=MANAGED, deleted_at=None).order_by("pk")
    chosen = [row for row in rows if not wanted or row.id in wanted]
    if unknown := sorted(set(wanted) - {row.id for row in chosen}):
        raise CommandError(f"no managed cluster: {', '.join(unknown)}")
    return chosen
