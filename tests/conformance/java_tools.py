"""Kafka's own command-line tools, run as their scripts would run them, in one JVM."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import pathlib
import queue
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator

from tests import kafka_jars

PROGRAMS = pathlib.Path(__file__).parent / "java"
START_TIMEOUT_S = 60.0
COMPILE_TIMEOUT_S = 120.0
TOOL_TIMEOUT_S = 60.0
STUCK = 124
# What several tools print of the error by which the runner ends them.
_ENDED = re.compile(r"(?:exit status \d+\n)?ToolRunner\$Ended: exit status \d+\n+")

CLASSES = {
    "kafka-acls": "kafka.admin.AclCommand",
    "kafka-broker-api-versions": "kafka.admin.BrokerApiVersionsCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer": "kafka.tools.ConsoleProducer",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-consumer-perf-test": "org.apache.kafka.tools.ConsumerPerformance",
    "kafka-delegation-tokens": "org.apache.kafka.tools.DelegationTokenCommand",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-dump-log": "kafka.tools.DumpLogSegments",
    "kafka-e2e-latency": "org.apache.kafka.tools.EndToEndLatency",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-replica-verification": "org.apache.kafka.tools.ReplicaVerificationTool",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-transactions": "org.apache.kafka.tools.TransactionsCommand",
    "kafka-verifiable-consumer": "org.apache.kafka.tools.VerifiableConsumer",
    "kafka-verifiable-producer": "org.apache.kafka.tools.VerifiableProducer",
}


def unavailable() -> str | None:
    """Why the programs cannot be run here; None if they can."""
    if shutil.which("javac") is None:
        return "no Java compiler: they are run from their source"
    return None


def compiled(directory: pathlib.Path, *sources: str) -> str:
    """Compile programs of `java/` into `directory`; the class path that runs them."""
    jars = kafka_jars.class_path()
    paths = [str(PROGRAMS / source) for source in sources]
    subprocess.run(
        ["javac", "-nowarn", "-d", str(directory), "-cp", jars, *paths],
        check=True,
        timeout=COMPILE_TIMEOUT_S,
    )
    return f"{directory}:{jars}"


@dataclasses.dataclass(frozen=True, slots=True)
class Ran:
    """One run of a tool; `status` is what its script would end with, STUCK if it did not end."""

    command: str
    status: int
    out: str
    err: str

    def ok(self) -> str:
        """What it printed; AssertionError unless it ended well."""
        assert self.status == 0, f"{self.command}: status {self.status}\n{self.out}\n{self.err}"
        assert "Exception" not in self.err, f"{self.command}\n{self.out}\n{self.err}"
        return self.out

    def refused(self, words: str) -> None:
        """AssertionError unless it ended badly and said these words."""
        said = self.out + self.err
        assert self.status == 1, f"{self.command}: status {self.status}\n{said}"
        assert words in said, f"{self.command}\n{said}"

    def table(self) -> list[dict[str, str]]:
        """What it printed as rows of words under a line of headings."""
        lines = [line.split() for line in self.ok().splitlines() if line.strip()]
        head = lines[0]
        return [dict(zip(head, line, strict=False)) for line in lines[1:] if line != head]


class JavaTools:
    """One JVM that runs tools one after another. Not for several threads."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [
                *("java", "-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
                *("-cp", kafka_jars.class_path(), str(PROGRAMS / "ToolRunner.java")),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        if self._line(START_TIMEOUT_S) != "ready":
            self.stop()
            raise RuntimeError("the runner of the tools did not start")

    def run(
        self, tool: str, *arguments: str, stdin: str = "", timeout_s: float = TOOL_TIMEOUT_S
    ) -> Ran:
        """Run `tool`, a name of CLASSES, with `arguments`."""
        words = [CLASSES[tool], stdin, str(timeout_s), *arguments]
        line = " ".join(base64.b64encode(word.encode()).decode() for word in words)
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        status, out, err = self._line(timeout_s + 30).split(" ")
        texts = [base64.b64decode(word).decode("utf-8", "replace") for word in (out, err)]
        return Ran(f"{tool} {' '.join(arguments)}", int(status), texts[0], _ENDED.sub("", texts[1]))

    @staticmethod
    def run_alone(tool: str, *arguments: str, timeout_s: float = TOOL_TIMEOUT_S) -> Ran:
        """Run `tool` in a JVM of its own: for those that finish their work as the process ends."""
        command = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", kafka_jars.class_path()]
        done = subprocess.run(
            [*command, CLASSES[tool], *arguments],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        return Ran(f"{tool} {' '.join(arguments)}", done.returncode, done.stdout, done.stderr)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put("")

    def _line(self, timeout_s: float) -> str:
        try:
            return self._lines.get(timeout=timeout_s)
        except queue.Empty:
            raise RuntimeError("the runner of the tools does not answer") from None


class ClusterTools:
    """The tools, pointed at one cluster; `options` are those that name it."""

    def __init__(
        self, tools: JavaTools, bootstrap: str, config: pathlib.Path | None = None
    ) -> None:
        self._tools = tools
        self.bootstrap = bootstrap
        self.config = config

    def __call__(self, tool: str, *arguments: str, stdin: str = "", timeout_s: float = 60.0) -> Ran:
        """Run `tool` with the options that most of them take."""
        given = ["--bootstrap-server", self.bootstrap]
        if self.config is not None:
            given += ["--command-config", str(self.config)]
        return self._tools.run(tool, *given, *arguments, stdin=stdin, timeout_s=timeout_s)

    def bare(self, tool: str, *arguments: str, stdin: str = "", timeout_s: float = 60.0) -> Ran:
        """Run `tool` with these arguments only."""
        return self._tools.run(tool, *arguments, stdin=stdin, timeout_s=timeout_s)

    def alone(self, tool: str, *arguments: str) -> Ran:
        """Run `tool` in a JVM of its own."""
        return self._tools.run_alone(tool, "--bootstrap-server", self.bootstrap, *arguments)


@contextlib.contextmanager
def java_tools() -> Iterator[JavaTools]:
    tools = JavaTools()
    try:
        yield tools
    finally:
        tools.stop()
