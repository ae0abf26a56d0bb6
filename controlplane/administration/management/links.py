"""One-time links as `manage.py` prints them."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from controlplane.administration.services.invitations import Link
from controlplane.common.times import iso


def add_url(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--url",
        default=settings.PUBLIC_URL,
        help=f"where the console is served ({settings.PUBLIC_URL})",
    )


def link_row(link: Link, url: str) -> dict[str, Any]:
    return {
        "link": url.rstrip("/") + link.path,
        "link_expires_at": iso(link.invitation.expires_at),
    }
