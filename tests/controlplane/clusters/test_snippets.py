"""What somebody copies to connect: never a secret, and nobody's names as code."""

import ast
import json
import shlex

import pytest

from controlplane.clusters.serializers import SnippetSerializer
from controlplane.clusters.snippets import LANGUAGES, MAKERS, PASSWORD_VARIABLE, quoted, snippets

SECURED = {
    "bootstrap.servers": "b1:9093,b2:9093",
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "ada",
    "sasl.password": "<password>",
    "ssl.ca.location": "ca.pem",
}
PLAIN_TEXT = {"bootstrap.servers": "b1:9092", "security.protocol": "PLAINTEXT"}
HOSTILE = [
    'x"+__import__("os").getpid()+"\\:1',
    "a'; rm -rf /; '",
    "$(id)",
    "`id`",
    "</script>",
    "\\u0022;",
]


def by_language(values):
    return {row["language"]: row for row in snippets(values)}


def test_there_is_one_of_each_language_and_it_is_as_documented():
    rows = snippets(SECURED)
    assert [row["language"] for row in rows] == list(LANGUAGES)
    assert len(MAKERS) == len(LANGUAGES)
    for row in rows:
        assert SnippetSerializer(data=row).is_valid(), row["language"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_password_comes_from_the_environment_or_stands_as_a_blank(language):
    row = by_language({**SECURED, "sasl.password": "not-a-placeholder"})[language]
    assert "not-a-placeholder" not in json.dumps(row)
    if language == "librdkafka":
        assert "sasl.password=<password>" in row["text"]
    else:
        assert PASSWORD_VARIABLE in row["text"]
        assert row["run"].startswith(f"{PASSWORD_VARIABLE}=… ")


@pytest.mark.parametrize("language", set(LANGUAGES) - {"librdkafka"})
def test_without_a_login_there_is_none(language):
    row = by_language(PLAIN_TEXT)[language]
    assert "sasl" not in row["text"].lower()
    assert PASSWORD_VARIABLE not in row["text"] + row["run"]
    assert "ca.pem" not in row["text"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_authority_is_trusted_by_each(language):
    assert "ca.pem" in by_language(SECURED)[language]["text"]


@pytest.mark.parametrize(
    ("mechanism", "kafkajs", "jaas"),
    [
        ("PLAIN", '"plain"', "plain.PlainLoginModule"),
        ("SCRAM-SHA-256", '"scram-sha-256"', "scram.ScramLoginModule"),
        ("SCRAM-SHA-512", '"scram-sha-512"', "scram.ScramLoginModule"),
    ],
)
def test_each_mechanism_by_each_clients_name(mechanism, kafkajs, jaas):
    rows = by_language({**SECURED, "sasl.mechanism": mechanism})
    assert f"mechanism: {kafkajs}" in rows["node"]["text"]
    assert jaas in rows["java"]["text"]
    assert jaas in rows["spark"]["text"]
    go = {
        "PLAIN": "plain.Auth",
        "SCRAM-SHA-256": "AsSha256Mechanism",
        "SCRAM-SHA-512": "AsSha512Mechanism",
    }
    assert go[mechanism] in rows["go"]["text"]


def test_another_mechanism_is_said_and_no_password_asked_for():
    for language, row in by_language({**SECURED, "sasl.mechanism": "OAUTHBEARER"}).items():
        assert "Log in by OAUTHBEARER as your provider says." in row["text"], language
        assert PASSWORD_VARIABLE not in row["text"] + row["run"]


@pytest.mark.parametrize("text", HOSTILE)
def test_names_and_addresses_stay_data(text):
    rows = by_language({**SECURED, "bootstrap.servers": text, "sasl.username": text})
    tree = ast.parse(rows["python"]["text"])
    strings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert text in strings
    calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert calls == {"Producer", "producer.produce", "producer.flush", "SystemExit"}
    ast.parse(rows["spark"]["text"])
    for language in ("java", "node", "go"):
        assert quoted(text) in rows[language]["text"], language
    words = shlex.split(rows["kcat"]["text"])
    assert words[words.index("-b") + 1] == text
    assert f"sasl.username={text}" in words
