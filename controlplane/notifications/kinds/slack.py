"""An incoming webhook as Slack has it, and Mattermost and Rocket.Chat after it. Pure.

https://docs.slack.dev/messaging/formatting-message-text: `&`, `<` and `>` are escaped everywhere,
so no name makes a link or calls a channel; formatting by `*` and `_` is turned off, since names
are full of them. Those after Slack call a channel by `@channel`: such a word is broken up, and so
is an address in a name, which all of them would make a link; nothing is looked up to be shown.
"""

import re

from controlplane.notifications.events import ACKNOWLEDGED, CRITICAL, INFO, RESOLVED, AlertEvent
from controlplane.notifications.kinds.message import HttpRequest, Stamp, Target, json_request, title
from controlplane.notifications.kinds.words import facts, line, link, paragraphs

TITLE_MAX_CHARS, TEXT_MAX_CHARS = 300, 2_500
SHORT_CHARS = 40
_CALLS = re.compile(r"@(?=channel|here|everyone|all\b)", re.IGNORECASE)
_ADDRESSES = re.compile(r"(?<=[a-z0-9])(?=://)|(?<=\bwww)(?=\.)|(?<=\bmailto)(?=:)", re.IGNORECASE)
_UNSEEN_BLANK = "\u200b"


def render(event: AlertEvent, target: Target, stamp: Stamp) -> HttpRequest:
    """POST to `secrets.url`, which is what lets in."""
    said = escaped(title(event.state, event.severity, event.summary, TITLE_MAX_CHARS))
    links = [
        f"<{plain(url)}|{name}>"
        for name, url in (
            ("Runbook", link(event.runbook_url)),
            ("Console", link(event.console_url)),
        )
        if url and "|" not in url
    ]
    told = escaped(paragraphs(event.description, TEXT_MAX_CHARS))
    attachment = {
        "color": _colour(event),
        "fallback": said,
        "text": "\n".join(part for part in (told, " · ".join(links)) if part),
        "fields": [
            {"title": escaped(name), "value": escaped(value), "short": len(value) <= SHORT_CHARS}
            for name, value in facts(event)
        ],
        "footer": escaped(line(f"Penstock alert {event.alert_id}", TITLE_MAX_CHARS)),
        "ts": int(event.occurred_at.timestamp()),
        "mrkdwn_in": [],
    }
    content = {
        "text": said,
        "mrkdwn": False,
        "unfurl_links": False,
        "unfurl_media": False,
        "attachments": [attachment],
    }
    return json_request(target.secrets["url"], content, stamp, target)


def plain(text: str) -> str:
    """What Slack reads as these letters."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escaped(text: str) -> str:
    """Of a stranger's: nobody is called by it, and nothing is a link."""
    called = _CALLS.sub("@" + _UNSEEN_BLANK, plain(text))
    return _ADDRESSES.sub(_UNSEEN_BLANK, called).replace("](", "]" + _UNSEEN_BLANK + "(")


def _colour(event: AlertEvent) -> str:
    if event.state == RESOLVED:
        return "#2e7d32"
    if event.state == ACKNOWLEDGED or event.severity == INFO:
        return "#1565c0"
    return "#c62828" if event.severity == CRITICAL else "#ef6c00"
