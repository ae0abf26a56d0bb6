"""Programs that send one record to a cluster, for whoever connects a first client. Pure.

A password is never part of a program: each takes it from the environment, where the secret that is
shown once belongs. Addresses and names are data of whoever registered or made them, so each is a
string literal of the program's language, or quoted for the shell.
"""

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from controlplane.common.kafka_configs import format_properties

TOPIC = "my-topic"
PASSWORD_VARIABLE = "KAFKA_PASSWORD"  # noqa: S105 - the name of one, not one
"""The environment variable that programs take the password from."""
PLACEHOLDER = "<password>"
"""Where a file of settings, which has no environment, holds it."""

Values = Mapping[str, str]
"""A client's settings by librdkafka's keys, as `client_config` gives them."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """Attributes:
    file: what to call it.
    install: a command that brings the client; empty: there is nothing to install.
    run: a command that runs it, with the password in the environment.
    """

    language: str
    title: str
    file: str
    install: str
    run: str
    text: str

    def as_row(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__}


def snippets(values: Values) -> list[dict[str, str]]:
    """One for each client that we test with, as rows of `Snippet`'s fields."""
    return [make(values).as_row() for make in MAKERS]


def quoted(text: str) -> str:
    """A string literal of Java, Python, JavaScript and Go alike."""
    return json.dumps(text, ensure_ascii=False)


def _is_tls(values: Values) -> bool:
    return values["security.protocol"].endswith("SSL")


def _ca(values: Values) -> str | None:
    return values.get("ssl.ca.location")


def _mechanism(values: Values) -> str:
    return values.get("sasl.mechanism", "")


def _has_password(values: Values) -> bool:
    mechanism = _mechanism(values)
    return mechanism == "PLAIN" or mechanism.startswith("SCRAM")


def _other_login(values: Values, comment: str) -> str:
    """A line that says what a program does not do by itself."""
    mechanism = _mechanism(values)
    if not mechanism or _has_password(values):
        return ""
    return f"{comment} Log in by {' '.join(mechanism.split())} as your provider says.\n"


def _run(values: Values, command: str) -> str:
    return f"{PASSWORD_VARIABLE}=… {command}" if _has_password(values) else command


def _python(values: Values) -> Snippet:
    rows = {key: quoted(value) for key, value in values.items() if key != "sasl.password"}
    if _has_password(values):
        rows["sasl.password"] = f"os.environ[{quoted(PASSWORD_VARIABLE)}]"
    config = "".join(f"    {quoted(key)}: {value},\n" for key, value in rows.items())
    text = (
        "import os\n\nfrom confluent_kafka import Producer\n\n"
        f"{_other_login(values, '#')}producer = Producer({{\n{config}}})\n"
        f'producer.produce({quoted(TOPIC)}, b"hello")\n'
        'if producer.flush(30):\n    raise SystemExit("not delivered")\n'
    )
    run = _run(values, "python produce.py")
    return Snippet("python", "Python", "produce.py", "pip install confluent-kafka", run, text)


def _java(values: Values) -> Snippet:
    rows = {"bootstrap.servers": values["bootstrap.servers"]}
    rows["security.protocol"] = values["security.protocol"]
    if ca := _ca(values):
        rows |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": ca}
    if mechanism := _mechanism(values):
        rows["sasl.mechanism"] = mechanism
    puts = "".join(f"    config.put({quoted(k)}, {quoted(v)});\n" for k, v in rows.items())
    if _has_password(values):
        kind = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
        user = values["sasl.username"].replace("\\", "\\\\").replace('"', '\\"')
        begin = f"org.apache.kafka.common.security.{kind}LoginModule required "
        begin += f'username="{user}" password="'
        puts += (
            f'    config.put("sasl.jaas.config", {quoted(begin)}\n'
            f"        + System.getenv({quoted(PASSWORD_VARIABLE)}) + {quoted(chr(34) + ';')});\n"
        )
    text = (
        "import java.util.Properties;\n"
        "import org.apache.kafka.clients.producer.KafkaProducer;\n"
        "import org.apache.kafka.clients.producer.ProducerRecord;\n"
        "import org.apache.kafka.common.serialization.StringSerializer;\n\n"
        "public class Produce {\n"
        "  public static void main(String[] args) throws Exception {\n"
        f"{_other_login(values, '    //')}"
        f"    Properties config = new Properties();\n{puts}"
        "    try (var producer =\n"
        "        new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {\n"
        f'      producer.send(new ProducerRecord<>({quoted(TOPIC)}, "hello")).get();\n'
        "    }\n  }\n}\n"
    )
    run = _run(values, 'java -cp "libs/*" Produce.java')
    install = (
        "mvn dependency:copy -Dartifact=org.apache.kafka:kafka-clients:3.9.1 -DoutputDirectory=libs"
    )
    return Snippet("java", "Java", "Produce.java", install, run, text)


def _node(values: Values) -> Snippet:
    brokers = ", ".join(quoted(each.strip()) for each in values["bootstrap.servers"].split(","))
    rows = [f"  brokers: [{brokers}],\n"]
    if ca := _ca(values):
        rows.append(f'  ssl: {{ ca: [fs.readFileSync({quoted(ca)}, "utf8")] }},\n')
    elif _is_tls(values):
        rows.append("  ssl: true,\n")
    if _has_password(values):
        rows.append(
            f"  sasl: {{\n    mechanism: {quoted(_mechanism(values).lower())},\n"
            f"    username: {quoted(values['sasl.username'])},\n"
            f"    password: process.env.{PASSWORD_VARIABLE},\n  }},\n"
        )
    imports = 'import fs from "node:fs";\n' if _ca(values) else ""
    text = (
        f'{imports}import kafkajs from "kafkajs";\n\n'
        f"{_other_login(values, '//')}const kafka = new kafkajs.Kafka({{\n{''.join(rows)}}});\n"
        "const producer = kafka.producer();\nawait producer.connect();\n"
        f'await producer.send({{ topic: {quoted(TOPIC)}, messages: [{{ value: "hello" }}] }});\n'
        "await producer.disconnect();\n"
    )
    run = _run(values, "node produce.mjs")
    return Snippet("node", "Node", "produce.mjs", "npm install kafkajs", run, text)


def _go(values: Values) -> Snippet:
    seeds = ", ".join(quoted(each.strip()) for each in values["bootstrap.servers"].split(","))
    imports = ['"context"', '"log"']
    libraries = ['"github.com/twmb/franz-go/pkg/kgo"']
    before, options = "", [f"kgo.SeedBrokers({seeds})"]
    if ca := _ca(values):
        imports += ['"crypto/tls"', '"crypto/x509"', '"os"']
        before = (
            f"\tpem, err := os.ReadFile({quoted(ca)})\n"
            "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n"
            "\troots := x509.NewCertPool()\n\troots.AppendCertsFromPEM(pem)\n"
        )
        options.append("kgo.DialTLSConfig(&tls.Config{RootCAs: roots})")
    elif _is_tls(values):
        imports.append('"crypto/tls"')
        options.append("kgo.DialTLSConfig(&tls.Config{})")
    if _has_password(values):
        imports.append('"os"')
        is_plain = _mechanism(values) == "PLAIN"
        package = "plain" if is_plain else "scram"
        made = (
            "AsMechanism()"
            if is_plain
            else f"As{_mechanism(values)[6:].replace('-', '')}Mechanism()"
        )
        libraries.append(f'"github.com/twmb/franz-go/pkg/sasl/{package}"')
        options.append(
            f"kgo.SASL({package}.Auth{{User: {quoted(values['sasl.username'])}, "
            f"Pass: os.Getenv({quoted(PASSWORD_VARIABLE)})}}.{made.replace('AsSHA', 'AsSha')})"
        )
    lines = "".join(f"\t{each}\n" for each in sorted(set(imports)))
    lines += "\n" + "".join(f"\t{each}\n" for each in libraries)
    given = "".join(f"\t\t{each},\n" for each in options)
    text = (
        f"package main\n\nimport (\n{lines})\n\nfunc main() {{\n"
        f"{_other_login(values, chr(9) + '//')}"
        f"{before}\tclient, err := kgo.NewClient(\n{given}\t)\n"
        "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n\tdefer client.Close()\n"
        f'\trecord := &kgo.Record{{Topic: {quoted(TOPIC)}, Value: []byte("hello")}}\n'
        "\tif err := client.ProduceSync(context.Background(), record).FirstErr(); err != nil {\n"
        "\t\tlog.Fatal(err)\n\t}\n}\n"
    )
    install = "go mod init produce && go get github.com/twmb/franz-go"
    return Snippet("go", "Go", "produce.go", install, _run(values, "go run produce.go"), text)


def _librdkafka(values: Values) -> Snippet:
    """Settings for every client that is built on it."""
    kept = {**values, "sasl.password": PLACEHOLDER} if _has_password(values) else dict(values)
    text = _other_login(values, "#") + format_properties(kept)
    return Snippet("librdkafka", "librdkafka", "client.properties", "", "", text)


def _kcat(values: Values) -> Snippet:
    options = [
        f"-X {shlex.quote(f'{key}={value}')}"
        for key, value in values.items()
        if key not in {"bootstrap.servers", "sasl.password"}
    ]
    if _has_password(values):
        options.append(f'-X sasl.password="${PASSWORD_VARIABLE}"')
    lines = [f"kcat -b {shlex.quote(values['bootstrap.servers'])}", *options, f"-P -t {TOPIC}"]
    text = f"{_other_login(values, '#')}echo hello | {f' {chr(92)}{chr(10)}  '.join(lines)}\n"
    return Snippet(
        "kcat", "kcat", "produce.sh", "apt install kcat", _run(values, "sh produce.sh"), text
    )


def _spark(values: Values) -> Snippet:
    rows = {
        f"kafka.{key}": quoted(values[key]) for key in ("bootstrap.servers", "security.protocol")
    }
    if ca := _ca(values):
        rows["kafka.ssl.truststore.type"] = quoted("PEM")
        rows["kafka.ssl.truststore.location"] = quoted(ca)
    if mechanism := _mechanism(values):
        rows["kafka.sasl.mechanism"] = quoted(mechanism)
    if _has_password(values):
        kind = "plain.Plain" if mechanism == "PLAIN" else "scram.Scram"
        user = values["sasl.username"].replace("\\", "\\\\").replace('"', '\\"')
        begin = f"org.apache.kafka.common.security.{kind}LoginModule required "
        begin += f'username="{user}" password="'
        rows["kafka.sasl.jaas.config"] = (
            f"{quoted(begin)} + os.environ[{quoted(PASSWORD_VARIABLE)}] + {quoted(chr(34) + ';')}"
        )
    options = "".join(f"    {quoted(key)}: {value},\n" for key, value in rows.items())
    text = (
        "import os\n\nfrom pyspark.sql import SparkSession\n\n"
        f"{_other_login(values, '#')}options = {{\n{options}}}\n"
        "spark = SparkSession.builder.getOrCreate()\n"
        'row = spark.createDataFrame([("hello",)], "value string")\n'
        f'row.write.format("kafka").options(**options).option("topic", {quoted(TOPIC)}).save()\n'
    )
    run = (
        "spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.5 produce_spark.py"
    )
    return Snippet("spark", "Spark", "produce_spark.py", "", _run(values, run), text)


MAKERS: tuple[Callable[[Values], Snippet], ...] = (
    _python,
    _java,
    _node,
    _go,
    _librdkafka,
    _kcat,
    _spark,
)
LANGUAGES = ("python", "java", "node", "go", "librdkafka", "kcat", "spark")
