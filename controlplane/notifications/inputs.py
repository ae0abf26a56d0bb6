"""What a tenant may give a destination: addresses, receivers, secrets; by kind."""

import ipaddress
import re
import urllib.parse
from collections.abc import Collection, Mapping
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from controlplane.common.problems import Problem, field_problem
from controlplane.gateway.egress import policy_of
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.tls import endpoint_context
from controlplane.notifications import mail_sender
from controlplane.notifications.kinds.signature import SECRET_MAX_CHARS, SECRET_MIN_CHARS
from controlplane.notifications.kinds.table import CA, EMAIL, KINDS, URL

URL_MAX_CHARS = 2_000
CA_MAX_CHARS = 64 * 1024
RECEIVERS_MAX = 20
VALUE_MAX_CHARS = 4_000
_VISIBLE = re.compile(r"[\x21-\x7e]+")
_PRINTABLE = re.compile(r"[\x20-\x7e]+")


def check(
    kind: str, config: Mapping[str, Any], given: Mapping[str, str], kept: Collection[str] = ()
) -> None:
    """Pass when a destination of this kind can be made of these.

    Args:
        kind: one of `KINDS`.
        config: what is shown of it.
        given: secrets that the request has.
        kept: names of secrets that are there already.

    Raises:
        Problem: 422 with the field at fault; 409 `no-mail-server`.
    """
    made_of = KINDS[kind]
    if kind == EMAIL and not mail_sender.is_set_up():
        raise Problem(
            "This site is not set up to send mail: its operator names a server first.",
            status=409,
            code=mail_sender.NO_MAIL,
        )
    _names("config", config, made_of.needs, made_of.needs | made_of.may)
    allowed = made_of.secrets | made_of.may_secrets
    _names("secrets", {**dict.fromkeys(kept, ""), **given}, made_of.secrets, allowed)
    for name, value in config.items():
        if name == URL:
            _check_url("/config/url", value, tls_only=made_of.tls_only)
        elif name == CA:
            _check_ca(value)
        else:
            _check_receivers(value)
    for name, value in given.items():
        _check_secret(f"/secrets/{name}", name, value)


def _names(
    where: str, found: Mapping[str, Any], needed: Collection[str], allowed: Collection[str]
) -> None:
    for name in sorted(set(needed) - set(found)):
        raise field_problem(f"/{where}/{name}", "This kind of destination needs it.", "required")
    for name in sorted(set(found) - set(allowed)):
        raise field_problem(f"/{where}/{name}", "This kind of destination has none.", "unknown")


def _check_url(pointer: str, url: str, *, tls_only: bool) -> None:
    fault = _url_fault(url, tls_only=tls_only)
    if fault:
        raise field_problem(pointer, fault)


def _url_fault(url: str, *, tls_only: bool) -> str:
    """Why there can be no such address; empty when there can."""
    if len(url) > URL_MAX_CHARS or not _VISIBLE.fullmatch(url) or set(url) & set('"<>\\^`{|}'):
        return f"An address is of up to {URL_MAX_CHARS} ASCII characters that URLs have."
    try:
        parts = urllib.parse.urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "This is no address."
    if parts.scheme not in ({"https"} if tls_only else {"https", "http"}):
        return "An address begins with https://" + ("." if tls_only else " or http://.")
    if not host or port == 0 or "@" in parts.netloc or parts.fragment:
        return "An address names a host and a port that there is, no login and no fragment."
    return _objection(host)


def _objection(host: str) -> str:
    """Of a host given by its address; what a name means is asked each time that it is used."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return ""
    objection = policy_of(settings.EGRESS_ALLOWED).objection(address)
    return (
        f"{host} is a {objection} address: this service does not send there." if objection else ""
    )


def _check_ca(pem: str) -> None:
    if not pem:
        return
    try:
        endpoint_context(pem)
    except GatewayError:
        raise field_problem("/config/ca_pem", "These are no certificates in PEM.") from None


def _check_receivers(receivers: list[str]) -> None:
    for index, receiver in enumerate(receivers):
        pointer = f"/config/to/{index}"
        try:
            validate_email(receiver)
        except ValidationError:
            raise field_problem(pointer, "This is no mail address.") from None
        domain = receiver.rpartition("@")[2].lower()
        if settings.MAIL_DOMAINS and domain not in settings.MAIL_DOMAINS:
            raise field_problem(pointer, "This site sends no mail to that domain.", "not-allowed")
    if len({receiver.lower() for receiver in receivers}) < len(receivers):
        raise field_problem("/config/to", "A receiver is named twice.", "repeated")


def _check_secret(pointer: str, name: str, value: str) -> None:
    """Nothing of the value is in the refusal."""
    if name == URL:
        _check_url(pointer, value, tls_only=True)
    elif name == "signing_secret":
        is_long = SECRET_MIN_CHARS <= len(value) <= SECRET_MAX_CHARS
        if not is_long or not _PRINTABLE.fullmatch(value):
            raise field_problem(
                pointer,
                f"It is of {SECRET_MIN_CHARS} to {SECRET_MAX_CHARS} printable ASCII characters.",
            )
    elif len(value) > VALUE_MAX_CHARS or not _PRINTABLE.fullmatch(value):
        raise field_problem(
            pointer, f"It is of up to {VALUE_MAX_CHARS} printable ASCII characters."
        )
