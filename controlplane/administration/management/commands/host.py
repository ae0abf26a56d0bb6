"""`manage.py host list|versions|placement|token|plan|cordon|drain|declare-lost|…`: see `--help`."""

import contextlib
import re
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from controlplane.administration import selectors
from controlplane.administration.host_plans import host_plan
from controlplane.administration.inputs import (
    HOST_NAME,
    JOIN_LIFETIME_MAX_S,
    JOIN_LIFETIME_S,
)
from controlplane.administration.management.base import AdministrationCommand, Row
from controlplane.administration.services.host_tokens import token_make, token_revoke
from controlplane.administration.services.hosts import (
    host_change,
    host_declare_lost,
    host_remove,
)
from controlplane.clusters.host_states import ACTIVE, ACTS, CORDONED, DECLARE_LOST, DRAINING
from controlplane.clusters.hosts import HostsUnavailableError, hosts
from controlplane.clusters.inputs import BROKERS_MAX
from controlplane.common.times import iso_of_ms
from controlplane.healing.draining import drain_pause

HOST_NAME_MAX = 100
TOKENS_SHOWN = 100


class Command(AdministrationCommand):
    help = "Hosts: what runs on each and what they have left; cordon, drain, declare lost, remove."

    def add_actions(self, actions: Any) -> None:
        actions.add_parser("list", help="all hosts, with what runs on each")
        placement = actions.add_parser("placement", help="where a new cluster would go, and why")
        placement.add_argument("--brokers", type=int, default=3, help="how many it has (3)")
        explain = actions.add_parser("explain", help="why a plan places brokers as it does")
        explain.add_argument("plan_id", help="as its page and the REST API name it")
        actions.add_parser("tokens", help="tokens by which hosts join, the newest first")
        revoke = actions.add_parser("revoke-token", help="end a token that no host has used")
        revoke.add_argument("token_id", help="as `tokens` lists it")
        token = actions.add_parser("token", help="make a token by which one host joins, once")
        token.add_argument("host_id")
        token.add_argument(
            "--lifetime-s",
            type=int,
            default=JOIN_LIFETIME_S,
            help=f"how long it may be used, seconds ({JOIN_LIFETIME_S})",
        )
        token.add_argument("--note", default="", help="kept with the token")
        found = {}
        for action, words in {
            "add": "print how a host is admitted",
            "versions": "which releases of the brokers it has, and why others are none",
            "plan": "what an act would mean now; nothing changes",
            "cordon": "it gets no more brokers; those that it has go on",
            "uncordon": "it gets brokers again",
            "drain": "it gets no more brokers, and those that it has leave it one by one",
            "pause-drain": "no other broker leaves it; the one under way goes on",
            "resume-drain": "the next broker leaves it",
            "declare-lost": "its brokers count as gone, and what it has never serves again",
            "remove": "let it go: nothing runs on it, and its agent is stopped",
        }.items():
            found[action] = actions.add_parser(action, help=words)
            found[action].add_argument("host_id")
        found["plan"].add_argument("act", choices=sorted(ACTS))
        found["declare-lost"].add_argument(
            "--confirm", required=True, metavar="HOST", help="the host's name once more"
        )
        for action in ("cordon", "uncordon", "drain", "declare-lost"):
            found[action].add_argument("--reason", default="", help="kept with the decision")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with contextlib.closing(hosts()):
                super().handle(*args, **options)
        except HostsUnavailableError as error:
            raise CommandError(f"ZooKeeper: {error}") from error

    def do_list(self, _options: Row) -> list[Row]:
        return selectors.host_details()

    def do_token(self, options: Row) -> Row:
        if not re.match(HOST_NAME, options["host_id"]) or len(options["host_id"]) > HOST_NAME_MAX:
            raise CommandError(
                "a host's name has letters, digits, dots, dashes and underscores, 100 at most"
            )
        if not 60 <= options["lifetime_s"] <= JOIN_LIFETIME_MAX_S:
            raise CommandError(f"--lifetime-s is from 60 to {JOIN_LIFETIME_MAX_S} seconds")
        made = token_make(
            host_id=options["host_id"],
            lifetime_s=options["lifetime_s"],
            note=options["note"],
            actor=self.actor,
        )
        return {**selectors.host_token_dict(made.row), "token": made.text}

    def do_tokens(self, _options: Row) -> list[Row]:
        rows = selectors.host_tokens().order_by("-created_at")[:TOKENS_SHOWN]
        return [selectors.host_token_dict(row) for row in rows]

    def do_revoke_token(self, options: Row) -> None:
        token_revoke(token_id=options["token_id"], actor=self.actor)

    def do_add(self, options: Row) -> Row:
        return {"run": admit_command(options["host_id"])}

    def do_placement(self, options: Row) -> Row:
        if not 1 <= options["brokers"] <= BROKERS_MAX:
            raise CommandError(f"--brokers is a number from 1 to {BROKERS_MAX}")
        return selectors.placement_preview(options["brokers"])

    def do_explain(self, options: Row) -> Row:
        return selectors.plan_placement(options["plan_id"])

    def do_versions(self, options: Row) -> Row:
        found = hosts().versions([options["host_id"]])[options["host_id"]]
        if not found.is_known:
            raise CommandError(f"no agent of {options['host_id']} has said which versions it has")
        return {
            "versions": [asdict(each) for each in found.releases],
            "refused": dict(found.refused),
            "reported_at": iso_of_ms(found.reported_at_ms),
        }

    def do_plan(self, options: Row) -> Row:
        return host_plan(options["host_id"], options["act"])

    def do_cordon(self, options: Row) -> Row:
        return self._change(options, CORDONED)

    def do_uncordon(self, options: Row) -> Row:
        return self._change(options, ACTIVE)

    def do_drain(self, options: Row) -> Row:
        return self._change(options, DRAINING)

    def do_pause_drain(self, options: Row) -> Row:
        return self._set_paused(options, paused=True)

    def do_resume_drain(self, options: Row) -> Row:
        return self._set_paused(options, paused=False)

    def _set_paused(self, options: Row, *, paused: bool) -> Row:
        selectors.host_row(options["host_id"])
        drain_pause(host_id=options["host_id"], actor=self.actor, paused=paused)
        return selectors.host_detail(options["host_id"])

    def do_declare_lost(self, options: Row) -> Row:
        plan = host_plan(options["host_id"], DECLARE_LOST)
        host_declare_lost(
            host_id=options["host_id"],
            plan_hash=plan["plan_hash"],
            confirm=options["confirm"],
            reason=options["reason"],
            actor=self.actor,
        )
        return selectors.host_detail(options["host_id"])

    def _change(self, options: Row, state: str) -> Row:
        host_id = options["host_id"]
        host_change(host_id=host_id, state=state, reason=options["reason"], actor=self.actor)
        return selectors.host_detail(host_id)

    def do_remove(self, options: Row) -> None:
        host_remove(host_id=options["host_id"], actor=self.actor)


def admit_command(host_id: str) -> str:
    """What an operator runs where the control plane's ZooKeeper login is."""
    return (
        f"manage.py zookeeper host {host_id} --connection <file with the login that lets agents in>"
        f" --file <the agent's file, made here>"
        f" && manage.py secrets host-key {host_id} --file <the agent's key file, made here>"
    )
