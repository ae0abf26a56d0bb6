"""What `make up` prints: for whom a line is, and what the login that it gives may."""

import re

from confluent_kafka import Producer

from deploy.local.console import client_text
from deploy.local.demo import CLIENT_USER, _acls

CLIENT = {
    "cluster_id": "kc_1",
    "bootstrap.servers": "127.0.0.1:9092",
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": CLIENT_USER,
    "sasl.password": "pass-word_1",
}


def test_librdkafka_takes_the_lines_as_they_are():
    first = client_text(CLIENT).split("\n\n")[1]
    given = dict(line.strip().split("=", 1) for line in first.splitlines())
    assert given == {key: value for key, value in CLIENT.items() if "." in key}
    Producer(given)  # refuses a key that it does not know


def test_java_has_a_login_of_its_own():
    (line,) = re.findall(r"^  sasl\.jaas\.config=(.*)$", client_text(CLIENT), re.MULTILINE)
    assert line == (
        "org.apache.kafka.common.security.scram.ScramLoginModule required"
        f' username="{CLIENT_USER}" password="pass-word_1";'
    )


def test_it_says_what_the_login_may():
    text = client_text(CLIENT)
    for rule in _acls():
        assert f"{rule['resource_name']}*" in text
    assert {rule["pattern_type"] for rule in _acls()} == {"PREFIXED"}
