"""Each kind's payload: golden ones, the receivers' documented formats, hostile names."""

import email.policy
import hashlib
import hmac
import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from controlplane.notifications.events import bounded
from controlplane.notifications.kinds.message import Mail, Stamp, Target
from controlplane.notifications.kinds.signature import signature
from controlplane.notifications.kinds.table import KINDS, render
from controlplane.notifications.kinds.words import line, link, paragraphs
from controlplane.notifications.mail_sender import message_of
from tests.controlplane.notifications.events import AT, HOSTILE, event, hostile, resolved

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
README = HERE.parents[2] / "controlplane" / "notifications" / "README.md"
STAMP = Stamp(delivery_id="nd_1", attempt=2, sent_at=AT)
NEW, OLD = "n" * 24, "o" * 24
TARGETS = {
    "webhook": Target(
        config={"url": "https://hooks.example.org/p?a=b"},
        secrets={"signing_secret": NEW, "previous_signing_secret": OLD},
    ),
    "email": Target(config={"to": ["a@example.org", "b@example.org"]}, secrets={}),
    "slack": Target(config={}, secrets={"url": "https://hooks.slack.com/services/T/B/x"}),
    "pagerduty": Target(config={}, secrets={"routing_key": "r" * 32}),
    "alertmanager": Target(
        config={"url": "http://alerts.example.org:9093/am/"},
        secrets={"authorization": "Bearer t"},
    ),
}
EVENTS = {
    "firing": event(),
    "acknowledged": event(event_id="ev_3", state="acknowledged"),
    "resolved": resolved(),
}
HTTP = sorted(set(TARGETS) - {"email"})


def test_every_kind_is_here():
    assert set(TARGETS) == set(KINDS)


def written(kind, name):
    """What is sent as one JSON value, as the golden files have it."""
    made = render(kind, EVENTS[name], TARGETS[kind], STAMP)
    if isinstance(made, Mail):
        return {
            "to": list(made.to),
            "subject": made.subject,
            "text": made.text.split("\n"),
            "html": made.html,
            "headers": dict(made.headers),
        }
    return {"url": made.url, "headers": dict(made.headers), "body": json.loads(made.body)}


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("name", EVENTS)
def test_the_payload_is_the_golden_one(kind, name):
    """To change them: look at what differs, and write `written(kind, name)` there."""
    golden = json.loads((GOLDEN / f"{kind}-{name}.json").read_text())
    assert written(kind, name) == golden


@pytest.mark.parametrize("kind", TARGETS)
def test_every_attempt_says_which_it_is(kind):
    made = render(kind, event(), TARGETS[kind], STAMP)
    assert dict(made.headers)["Penstock-Delivery"] == "nd_1"
    assert dict(made.headers)["Penstock-Attempt"] == "2"


# From https://developer.pagerduty.com/docs/send-alert-event.
PAGERDUTY = {
    "type": "object",
    "required": ["routing_key", "event_action"],
    "properties": {
        "routing_key": {"type": "string", "minLength": 32, "maxLength": 32},
        "event_action": {"enum": ["trigger", "acknowledge", "resolve"]},
        "dedup_key": {"type": "string", "minLength": 1, "maxLength": 255},
        "payload": {
            "type": "object",
            "required": ["summary", "source", "severity"],
            "properties": {
                "summary": {"type": "string", "minLength": 1, "maxLength": 1024},
                "source": {"type": "string", "minLength": 1},
                "severity": {"enum": ["critical", "warning", "error", "info"]},
                "timestamp": {"type": "string"},
                "component": {"type": "string"},
                "group": {"type": "string"},
                "class": {"type": "string"},
                "custom_details": {"type": "object"},
            },
            "additionalProperties": False,
        },
        "images": {"type": "array"},
        "links": {
            "type": "array",
            "items": {
                "required": ["href"],
                "properties": {"href": {"pattern": "^https?://"}, "text": {"type": "string"}},
                "additionalProperties": False,
            },
        },
        "client": {"type": "string"},
        "client_url": {"type": "string", "pattern": "^https?://"},
    },
    "additionalProperties": False,
}
# From https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml, and the check of
# its code: names of labels, no empty value, an end that is not before the start.
LABELS = {
    "type": "object",
    "propertyNames": {"pattern": "^[a-zA-Z_][a-zA-Z0-9_]*$"},
    "additionalProperties": {"type": "string"},
}
ALERTMANAGER = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["labels"],
        "properties": {
            "labels": {
                **LABELS,
                "minProperties": 1,
                "additionalProperties": {"type": "string", "minLength": 1},
            },
            "annotations": LABELS,
            "startsAt": {"type": "string"},
            "endsAt": {"type": "string"},
            "generatorURL": {"type": "string", "pattern": "^https?://"},
        },
        "additionalProperties": False,
    },
}
# From https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks and the reference
# of attachments.
SLACK = {
    "type": "object",
    "required": ["text"],
    "properties": {
        "text": {"type": "string", "minLength": 1, "maxLength": 4000},
        "mrkdwn": {"type": "boolean"},
        "unfurl_links": {"const": False},
        "unfurl_media": {"const": False},
        "attachments": {
            "type": "array",
            "items": {
                "properties": {
                    "color": {"pattern": "^#[0-9a-f]{6}$"},
                    "fallback": {"type": "string"},
                    "text": {"type": "string"},
                    "fields": {
                        "items": {
                            "required": ["title", "value", "short"],
                            "properties": {"short": {"type": "boolean"}},
                        }
                    },
                    "footer": {"type": "string", "maxLength": 300},
                    "ts": {"type": "integer"},
                    "mrkdwn_in": {"type": "array"},
                },
                "additionalProperties": False,
            },
        },
    },
    "additionalProperties": False,
}
WEBHOOK = {"type": "object", "required": ["version", "id", "type", "event"]}
SCHEMAS = {
    "pagerduty": PAGERDUTY,
    "alertmanager": ALERTMANAGER,
    "slack": SLACK,
    "webhook": WEBHOOK,
}
ALL = [*EVENTS.values(), event(cluster_id=None, cluster_name="", labels={}, values={})]


@pytest.mark.parametrize("kind", HTTP)
@pytest.mark.parametrize("given", [*ALL, *(bounded(hostile(name)) for name in HOSTILE)])
def test_what_is_sent_is_what_the_receiver_documents(kind, given):
    made = render(kind, given, TARGETS[kind], STAMP)
    Draft202012Validator(SCHEMAS[kind]).validate(json.loads(made.body))
    assert made.body.isascii()
    assert b"\n" not in made.body
    assert b"\r" not in made.body
    assert len(made.body) < 512 * 1024, "PagerDuty's bound"
    for name, value in made.headers:
        assert re.fullmatch(r"[A-Za-z-]+", name)
        assert re.fullmatch(r"[\x20-\x7e]*", value), (name, value)


@pytest.mark.parametrize("given", ALL)
def test_an_alert_is_one_incident_from_its_trigger_to_its_resolve(given):
    made = json.loads(render("pagerduty", given, TARGETS["pagerduty"], STAMP).body)
    assert made["dedup_key"] == "al_1"
    actions = {"firing": "trigger", "acknowledged": "acknowledge", "resolved": "resolve"}
    assert made["event_action"] == actions[given.state]


def alerts(given):
    return json.loads(render("alertmanager", given, TARGETS["alertmanager"], STAMP).body)


def moment(text):
    return datetime.fromisoformat(text).astimezone(UTC)


def open_at(sent, at):
    """Severities of the alerts that Alertmanager takes for firing at a moment."""
    return [a["labels"]["severity"] for a in sent if moment(a["endsAt"]) > at]


def test_alertmanager_sees_one_alert_that_fires_and_ends():
    first, last = alerts(event()), alerts(resolved())
    # An alert is its labels, there.
    assert [a["labels"] for a in first] == [a["labels"] for a in last]
    assert open_at(first, AT) == ["critical"]
    assert open_at(last, resolved().resolved_at) == []
    for sent in (*first, *last):
        assert moment(sent["startsAt"]) == event().started_at.replace(microsecond=890000)
        assert moment(sent["endsAt"]) >= moment(sent["startsAt"])
    assert first[0]["labels"]["alertname"] == "group-losing-data"
    assert render("alertmanager", event(), TARGETS["alertmanager"], STAMP).url == (
        "http://alerts.example.org:9093/am/api/v2/alerts"
    )


def test_alertmanager_keeps_one_alert_whose_severity_changes():
    kept = {}
    for sent in (*alerts(event(severity="warning")), *alerts(event(severity="critical"))):
        kept[json.dumps(sent["labels"], sort_keys=True)] = sent
    assert open_at(kept.values(), AT) == ["critical"]


def test_names_of_labels_take_nothing_from_our_own():
    (sent, *_) = alerts(event(labels={"alertname": "x", "severity": "x", "9 a-b": "v", "": "w"}))
    assert sent["labels"]["alertname"] == "group-losing-data"
    assert sent["labels"]["severity"] == "info"
    assert sent["labels"]["_9_a_b"] == "v"
    assert sent["labels"]["_"] == "w"


@pytest.mark.parametrize("name", HOSTILE)
def test_slack_gets_no_link_and_no_call_of_a_channel(name):
    given = bounded(hostile(name))
    body = json.loads(render("slack", given, TARGETS["slack"], STAMP).body)
    (made,) = body["attachments"]
    texts = [body["text"], made["fallback"], made["footer"], made["text"].rpartition("\n")[0]]
    texts += [field[part] for field in made["fields"] for part in ("title", "value")]
    for text in texts:
        assert not re.search(r"[<>]|&(?!amp;|lt;|gt;)", text), text
        assert not re.search(r"@(channel|here|everyone|all\b)", text), text
        assert "](" not in text
        assert not re.search(r"(?i)[a-z]://|\bwww\.|\bmailto:", text), text
    assert body["mrkdwn"] is False
    assert made["mrkdwn_in"] == []


class Page(HTMLParser):
    """What an HTML document holds, as a mail program reads it."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.text = set(), [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name != "align"]

    def handle_data(self, data):
        self.text += data


class NoServer:
    """The mail is only written here, not sent."""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_mail_has_the_headers_that_it_should_whatever_names_it_holds(name, settings):
    settings.MAIL_FROM = "Penstock <alerts@example.org>"
    made = render("email", bounded(hostile(name)), TARGETS["email"], STAMP)
    page = Page(made.html)
    assert page.tags <= {"html", "body", "p", "strong", "table", "tr", "th", "td", "a", "small"}
    assert all(link.startswith("https://penstock.example/") for link in page.links)
    raw = message_of(made, NoServer()).message().as_bytes()
    read = email.message_from_bytes(raw, policy=email.policy.default)
    assert set(read.keys()) == {
        *("Content-Type", "MIME-Version", "Subject", "From", "To", "Date", "Message-ID"),
        *("References", "Auto-Submitted", "Penstock-Delivery", "Penstock-Attempt"),
    }
    assert read["To"] == "a@example.org, b@example.org"
    assert len(read["Subject"]) <= 200
    assert [part.get_content_type() for part in read.iter_parts()] == ["text/plain", "text/html"]


def test_copies_of_a_mail_are_known_and_mails_of_an_alert_belong_together(settings):
    settings.MAIL_FROM = "Penstock <alerts@example.org>"

    def headers(given, stamp):
        return message_of(render("email", given, TARGETS["email"], stamp), NoServer()).message()

    first = headers(event(), STAMP)
    again = headers(event(), Stamp(delivery_id="nd_1", attempt=3, sent_at=AT))
    last = headers(resolved(), Stamp(delivery_id="nd_2", attempt=1, sent_at=AT))
    assert first["Message-ID"] == again["Message-ID"] == "<nd_1@example.org>"
    assert last["Message-ID"] == "<nd_2@example.org>"
    assert first["References"] == last["References"] == "<alert.al_1@example.org>"


def verifier():
    """`verify` of the README, as receivers copy it."""
    (source,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    found = {}
    exec(source, found)
    return found["verify"]


def test_the_documented_verification_takes_what_is_sent():
    verify = verifier()
    made = render("webhook", event(), TARGETS["webhook"], STAMP)
    header, now_s = dict(made.headers)["Penstock-Signature"], AT.timestamp()
    assert verify(header, made.body, [NEW], now_s)
    assert verify(header, made.body, [OLD], now_s), "while the secret is being changed"
    assert verify(header, made.body, ["x" * 24, OLD], now_s)
    assert not verify(header, made.body, ["x" * 24], now_s)
    assert not verify(header, made.body + b" ", [NEW], now_s)
    assert not verify(header, made.body, [NEW], now_s + 301)
    assert not verify(header, made.body, [NEW], now_s - 301)
    forged = header.replace(f"t={int(now_s)}", f"t={int(now_s) + 200}")
    assert not verify(forged, made.body, [NEW], now_s + 400)
    for nonsense in ("", "t=", "v1=", "t=x,v1=y", "t=1,t=2", "v1=é", ",,,", "t=" + "9" * 9999):
        assert not verify(nonsense, made.body, [NEW], now_s)


def test_a_signature_is_of_the_time_and_the_body():
    made = hmac.new(b"k" * 24, b"1767225600.{}", hashlib.sha256).hexdigest()
    assert signature(["k" * 24], 1_767_225_600, b"{}") == f"t=1767225600,v1={made}"


def test_nothing_that_opens_a_door_is_in_what_is_printed():
    for kind, target in TARGETS.items():
        made = render(kind, event(), target, STAMP)
        shown = repr(target) + (repr(made) if kind != "email" else "")
        for secret in target.secrets.values():
            assert secret not in shown


@pytest.mark.parametrize(
    ("text", "in_one_line"),
    [
        ("a\r\n\tb  c ", "a b c"),
        ("a\x1b[31mb\x00c\x7fd", "a [31mb c d"),
        ("invoice\u202egnp.exe\u202c", "invoice gnp.exe"),
        ("bil\u200bling\ufeff", "bil ling"),
        ("a\u2028b\u2029c\x85d", "a b c d"),
        ("half \ud800 of", "half of"),
        ("Grüße λ 🚀", "Grüße λ 🚀"),
    ],
)
def test_a_line_holds_letters_and_blanks_alone(text, in_one_line):
    assert line(text, 100) == in_one_line
    assert paragraphs(f"{text}\nx", 100).endswith("\nx")


def test_what_is_too_long_says_so():
    assert line("x" * 100, 10) == "x" * 9 + "…"
    assert len(paragraphs("x\n" * 100, 10)) == 10


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "//evil.example",
        "https://a b",
        'https://a"b',
        "https://a\nb",
        "https://é.example",
        "",
    ],
)
def test_what_is_no_link_is_left_out(url):
    assert link(url) == ""
    assert link("https://penstock.example/a?b=c") == "https://penstock.example/a?b=c"
