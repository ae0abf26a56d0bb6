"""`manage.py first_run <operator> <tenant>`: the first operator, who owns the first tenant.

Once somebody runs the platform it refuses. Until then it may run again: the operator that it made
gets another link, the one before ends.
"""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from controlplane.administration.management.base import AdministrationCommand, checked, one_line
from controlplane.administration.management.links import add_url, link_row
from controlplane.administration.serializers import OperatorTenantInputSerializer
from controlplane.administration.services.first_run import first_run
from controlplane.common.problems import Problem

STDIN_MAX = 4_096


class Command(AdministrationCommand):
    help = "Make the first operator and tenant; prints a one-time link, or takes a password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("operator", help="user name of who runs the platform")
        parser.add_argument("tenant", help="slug of the first tenant")
        parser.add_argument("--tenant-name", help="as people call it; the slug by default")
        parser.add_argument(
            "--password-stdin", action="store_true", help="the first line of stdin is the password"
        )
        parser.add_argument("--json", action="store_true", dest="as_json")
        add_url(parser)

    def handle(self, *_: Any, as_json: bool, **options: Any) -> None:
        password = None
        if options["password_stdin"]:
            password = sys.stdin.readline(STDIN_MAX).rstrip("\r\n")
        try:
            given = {
                "slug": options["tenant"],
                "name": options["tenant_name"] or options["tenant"],
            }
            user, tenant, link = first_run(
                username=options["operator"],
                **checked(OperatorTenantInputSerializer, given),
                password=password,
                actor=self.actor,
            )
        except Problem as problem:
            raise CommandError(one_line(problem)) from problem
        shown = {"operator": user.get_username(), "tenant": tenant.slug}
        if link is not None:
            shown.update(link_row(link, options["url"]))
        self.show(shown, as_json=as_json)
