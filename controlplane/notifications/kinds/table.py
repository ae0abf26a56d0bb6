"""The kinds of destination: what each is given, and its renderer. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from controlplane.notifications.events import AlertEvent
from controlplane.notifications.kinds import alertmanager, email, pagerduty, slack, webhook
from controlplane.notifications.kinds.message import Outgoing, Stamp, Target

WEBHOOK, EMAIL, SLACK = "webhook", "email", "slack"
PAGERDUTY, ALERTMANAGER = "pagerduty", "alertmanager"
Renderer = Callable[[AlertEvent, Target, Stamp], Outgoing]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of destination.

    Attributes:
        needs, may: fields of `config`.
        secrets, may_secrets: fields of `secrets` that it needs, and that it may have besides.
        sends_secrets: they go over the wire as they are: only by TLS where `tls_only`, and they
            have to be said again for another address, or who may change one could have them sent
            to a server of their own.
        tls_only: an address begins with `https://`.
        keeps_state: what fires there stays until it is resolved, so a test resolves it as well.
    """

    render: Renderer
    needs: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    secrets: frozenset[str] = frozenset()
    may_secrets: frozenset[str] = frozenset()
    sends_secrets: bool = False
    tls_only: bool = False
    keeps_state: bool = False


URL, CA = "url", "ca_pem"
KINDS: Mapping[str, Kind] = {
    WEBHOOK: Kind(
        render=webhook.render,
        needs=frozenset({URL}),
        may=frozenset({CA}),
        secrets=frozenset({"signing_secret"}),
    ),
    EMAIL: Kind(render=email.render, needs=frozenset({"to"})),
    SLACK: Kind(
        render=slack.render,
        may=frozenset({CA}),
        secrets=frozenset({URL}),
        tls_only=True,
    ),
    PAGERDUTY: Kind(
        render=pagerduty.render,
        may=frozenset({URL, CA}),
        secrets=frozenset({"routing_key"}),
        sends_secrets=True,
        tls_only=True,
        keeps_state=True,
    ),
    ALERTMANAGER: Kind(
        render=alertmanager.render,
        needs=frozenset({URL}),
        may=frozenset({CA}),
        may_secrets=frozenset({"authorization"}),
        sends_secrets=True,
        keeps_state=True,
    ),
}


def render(kind: str, event: AlertEvent, target: Target, stamp: Stamp) -> Outgoing:
    """What is sent to a destination of this kind. Raises KeyError: it lacks what its kind needs."""
    return KINDS[kind].render(event, target, stamp)
