"""`manage.py user list|create|link|deactivate|activate|operator|link-oidc`."""

from typing import Any

from django.conf import settings

from controlplane.administration import selectors
from controlplane.administration.management.base import AdministrationCommand, Row, checked
from controlplane.administration.management.links import add_url, link_row
from controlplane.administration.serializers import OperatorUserInputSerializer
from controlplane.administration.services.sign_in import link_identity
from controlplane.administration.services.users import (
    user_create,
    user_link,
    user_row,
    user_update,
)
from controlplane.common.problems import Conflict


class Command(AdministrationCommand):
    help = "Users: make, let choose a password, end, let in again, make operators of them."

    def add_actions(self, actions: Any) -> None:
        actions.add_parser("list", help="all users")
        made = actions.add_parser("create", help="make a user; prints a one-time link")
        made.add_argument("username")
        made.add_argument("--email", default="", help="shown to operators; nothing is sent to it")
        made.add_argument("--operator", action="store_true", help="one who runs the platform")
        link = actions.add_parser("link", help="print another one-time link to a password")
        link.add_argument("username")
        ended = actions.add_parser("deactivate", help="end a login: its sessions end at once")
        ended.add_argument("username")
        again = actions.add_parser("activate", help="let a login in again; prints a link")
        again.add_argument("username")
        for parser in (made, link, again):
            add_url(parser)
        operator = actions.add_parser("operator", help="whether a user runs the platform")
        operator.add_argument("username")
        operator.add_argument("value", choices=["yes", "no"])

        linked = actions.add_parser("link-oidc", help="let the OpenID provider open a login")
        linked.add_argument("username")
        linked.add_argument("subject", help="the provider's `sub` of them")

    def do_link_oidc(self, options: Row) -> Row:
        if not settings.OIDC_ISSUER:
            raise Conflict("No OpenID provider is configured.")
        user = user_row(options["username"])
        made = link_identity(
            user=user,
            issuer=settings.OIDC_ISSUER,
            subject=options["subject"],
            actor=self.actor,
        )
        return {"username": user.get_username(), "issuer": made.issuer, "subject": made.subject}

    def do_list(self, _options: Row) -> list[Row]:
        return [selectors.user_dict(row) for row in selectors.users().order_by("username")]

    def do_create(self, options: Row) -> Row:
        values = checked(
            OperatorUserInputSerializer,
            {
                "username": options["username"],
                "email": options["email"],
                "is_operator": options["operator"],
            },
        )
        user, link = user_create(actor=self.actor, **values)
        return {**selectors.user_dict(user), **link_row(link, options["url"])}

    def do_link(self, options: Row) -> Row:
        link = user_link(username=options["username"], actor=self.actor)
        return link_row(link, options["url"])

    def do_deactivate(self, options: Row) -> Row:
        return self._update(options, is_active=False)

    def do_activate(self, options: Row) -> Row:
        return self._update(options, is_active=True)

    def do_operator(self, options: Row) -> Row:
        return self._update(options, is_operator=options["value"] == "yes")

    def _update(self, options: Row, **fields: bool) -> Row:
        user = user_row(options["username"])
        values = {"is_active": user.is_active, "is_operator": user.is_staff, **fields}
        change = user_update(
            username=user.get_username(), email=user.email, actor=self.actor, **values
        )
        shown = {
            **selectors.user_dict(change.user),
            "tenants_without_owner": change.tenants_without_owner,
        }
        return {**shown, **link_row(change.link, options["url"])} if change.link else shown
