"""`manage.py member list|add|role|remove|invite|invitations|revoke-invitation <tenant>`."""

from dataclasses import asdict
from datetime import timedelta
from typing import Any

from controlplane.administration import selectors
from controlplane.administration.management.base import AdministrationCommand, Row, checked
from controlplane.administration.management.grants import add_grants, grant_rows
from controlplane.administration.management.links import add_url, link_row
from controlplane.administration.serializers import MemberInputSerializer
from controlplane.administration.services.invitations import (
    INVITATION_LIFETIME,
    invitation_revoke,
    invite,
)
from controlplane.administration.services.members import member_add, member_change, member_remove
from controlplane.administration.services.users import user_row
from controlplane.tenants.models import ROLE_CHOICES
from controlplane.tenants.selectors import tenant_by_slug

ROLES = [role for role, _ in ROLE_CHOICES]


class Command(AdministrationCommand):
    help = "Members of a tenant, their roles and grants."

    def add_actions(self, actions: Any) -> None:
        parsers = {
            name: actions.add_parser(name, help=words)
            for name, words in {
                "list": "who belongs to the tenant",
                "add": "make a user a member",
                "role": "give a member another role, or other grants beside it",
                "remove": "remove a member; the last owner stays",
                "invite": "print a one-time link into the tenant",
                "invitations": "the links that were given, without their texts",
                "revoke-invitation": "end a link that nobody has used",
            }.items()
        }
        for parser in parsers.values():
            parser.add_argument("tenant", help="its slug")
        for name in ("add", "role", "remove"):
            parsers[name].add_argument("username")
        for name in ("add", "role", "invite"):
            parsers[name].add_argument("role", choices=ROLES)
        for name in ("add", "role"):
            add_grants(parsers[name])
        parsers["role"].add_argument("--no-grants", action="store_true", help="end all of them")
        parsers["revoke-invitation"].add_argument("invitation_id", help="as `invitations` lists it")
        parsers["invite"].add_argument("--note", default="", help="whom it is for")
        parsers["invite"].add_argument(
            "--days",
            type=int,
            choices=range(1, 31),
            metavar="1-30",
            default=INVITATION_LIFETIME.days,
            help=f"how long the link may be used ({INVITATION_LIFETIME.days})",
        )
        add_url(parsers["invite"])

    def do_list(self, options: Row) -> list[Row]:
        rows = selectors.members(tenant_by_slug(options["tenant"])).order_by("user__username")
        return [selectors.member_dict(row) for row in rows]

    def do_add(self, options: Row) -> Row:
        tenant, user = tenant_by_slug(options["tenant"]), user_row(options["username"])
        made = member_add(tenant=tenant, user=user, actor=self.actor, **self._rights(options))
        return selectors.member_dict(made)

    def do_role(self, options: Row) -> Row:
        changed = member_change(
            tenant=tenant_by_slug(options["tenant"]),
            username=options["username"],
            actor=self.actor,
            **self._rights(options),
        )
        return selectors.member_dict(changed)

    def _rights(self, options: Row) -> Row:
        """Without an option for grants nothing is said of them."""
        given = {"role": options["role"]}
        if options["grant"] or options.get("no_grants"):
            given["grants"] = grant_rows(options["grant"])
        return checked(MemberInputSerializer, given)

    def do_remove(self, options: Row) -> Row:
        tenant = tenant_by_slug(options["tenant"])
        left = member_remove(tenant=tenant, username=options["username"], actor=self.actor)
        return asdict(left)

    def do_invite(self, options: Row) -> Row:
        link = invite(
            tenant=tenant_by_slug(options["tenant"]),
            role=options["role"],
            note=options["note"][:200],
            lifetime=timedelta(days=options["days"]),
            actor=self.actor,
        )
        return link_row(link, options["url"])

    def do_invitations(self, options: Row) -> list[Row]:
        rows = selectors.invitations(tenant_by_slug(options["tenant"])).order_by("-pk")
        return [selectors.invitation_dict(row) for row in rows]

    def do_revoke_invitation(self, options: Row) -> Row:
        tenant = tenant_by_slug(options["tenant"])
        invitation_id = options["invitation_id"]
        invitation_revoke(tenant=tenant, invitation_id=invitation_id, actor=self.actor)
        return selectors.invitation_dict(selectors.invitation_row(tenant, invitation_id))
