"""A signed webhook: the whole event as JSON. Pure.

The body of a delivery is the same at each attempt; what differs is in the headers.
"""

from controlplane.notifications.events import AlertEvent, as_json
from controlplane.notifications.kinds.message import HttpRequest, Stamp, Target, json_request
from controlplane.notifications.kinds.signature import SIGNATURE_HEADER, signature

EVENT_HEADER = "Penstock-Event"
VERSION = 1


def render(event: AlertEvent, target: Target, stamp: Stamp) -> HttpRequest:
    """POST `{version, id, type: "alert.<state>", event}` to `config.url`."""
    kind = f"alert.{event.state}"
    content = {"version": VERSION, "id": event.event_id, "type": kind, "event": as_json(event)}
    unsigned = json_request(target.config["url"], content, stamp, target, (EVENT_HEADER, kind))
    given = (target.secrets.get("signing_secret"), target.secrets.get("previous_signing_secret"))
    signed = signature([s for s in given if s], int(stamp.sent_at.timestamp()), unsigned.body)
    return HttpRequest(
        url=unsigned.url,
        headers=(*unsigned.headers, (SIGNATURE_HEADER, signed)),
        body=unsigned.body,
        ca_pem=unsigned.ca_pem,
    )
