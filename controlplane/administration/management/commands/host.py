"""`manage.py host list|add|drain|resume|remove`."""

import contextlib
from typing import Any

from django.core.management.base import CommandError

from controlplane.administration import selectors
from controlplane.administration.management.base import AdministrationCommand, Row
from controlplane.administration.services.hosts import host_remove, host_update
from controlplane.clusters.hosts import HostsUnavailableError, hosts


class Command(AdministrationCommand):
    help = "Hosts: what runs on each; drain, resume, remove."

    def add_actions(self, actions: Any) -> None:
        actions.add_parser("list", help="all hosts, with what runs on each")
        for action, words in {
            "add": "print how a host is admitted",
            "drain": "it gets no more brokers; those that it has go on",
            "resume": "it gets brokers again",
            "remove": "let it go: nothing runs on it, and its agent is stopped",
        }.items():
            actions.add_parser(action, help=words).add_argument("host_id")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with contextlib.closing(hosts()):
                super().handle(*args, **options)
        except HostsUnavailableError as error:
            raise CommandError(f"ZooKeeper: {error}") from error

    def do_list(self, _options: Row) -> list[Row]:
        return selectors.host_details()

    def do_add(self, options: Row) -> Row:
        return {"run": admit_command(options["host_id"])}

    def do_drain(self, options: Row) -> Row:
        host_update(host_id=options["host_id"], drained=True, actor=self.actor)
        return selectors.host_detail(options["host_id"])

    def do_resume(self, options: Row) -> Row:
        host_update(host_id=options["host_id"], drained=False, actor=self.actor)
        return selectors.host_detail(options["host_id"])

    def do_remove(self, options: Row) -> None:
        host_remove(host_id=options["host_id"], actor=self.actor)


def admit_command(host_id: str) -> str:
    """What an operator runs where the control plane's ZooKeeper login is."""
    return (
        f"manage.py zookeeper host {host_id} --connection <file with the login that lets agents in>"
        f" --file <the agent's file, made here>"
        f" && manage.py secrets host-key {host_id} --file <the agent's key file, made here>"
    )
