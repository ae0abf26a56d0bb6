"""The load generator: a process of its own, one thread, pre-encoded requests, every answer checked.

    python -m tests.bench.dataplane.generator  < task.json  > outcome.json

The same for every broker. It keeps `in_flight` requests open on each connection for `seconds`,
then takes in what is still open; in bursts, it asks for the next `in_flight` when all are answered,
so that no new request carries the acknowledgement that a broker's answer may wait for. A wrong error code, correlation id, size or offset in any answer
ends it with exit code 1 and a line on stderr.
"""

from __future__ import annotations

import json
import select
import ssl
import sys
import time
from dataclasses import asdict

from tests.bench.dataplane import frames, secured
from tests.bench.dataplane.answers import FetchAnswers, ProduceAnswers, WrongAnswer
from tests.bench.dataplane.task import Lane, Outcome, Task

SILENCE_S_MAX = 60.0
WOULD_BLOCK = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


class Connection:
    """One socket, its endless stream of requests, and the check of what comes back."""

    def __init__(self, task: Task, lane: Lane) -> None:
        self.answers: ProduceAnswers | FetchAnswers
        if task.fetch_bytes:
            offsets = range(
                0, lane.stored_batches * task.records, task.records * task.fetch_batches
            )
            requests = [
                frames.fetch(lane.topic, lane.partition, offset, task.fetch_bytes, number)
                for number, offset in enumerate(offsets)
            ]
            self.answers = FetchAnswers(list(offsets), task.fetch_bytes)
        else:
            records, count = frames.batch(task.batch_bytes)
            request = frames.produce(lane.topic, lane.partition, records, task.acks)
            requests = [request] * (task.in_flight + 1)
            self.answers = ProduceAnswers(count, is_alone=lane.is_alone)
        self.answers.is_checked = not task.is_dummy
        self.request_bytes = len(requests[0])
        self._stream = memoryview(b"".join(requests))
        self._position = 0
        self._owed_bytes = 0
        self.open = 0
        self.sock = secured.connect(lane.port, task.security)
        self.sock.setblocking(False)
        self._is_tls = isinstance(self.sock, ssl.SSLSocket)

    def ask(self, count: int) -> bool:
        """Send `count` requests more. True when the socket takes everything at once."""
        self.open += count
        self._owed_bytes += count * self.request_bytes
        return self.send()

    def send(self) -> bool:
        while self._owed_bytes:
            end = min(len(self._stream), self._position + self._owed_bytes)
            try:
                sent = self.sock.send(self._stream[self._position : end])
            except WOULD_BLOCK:
                return False
            self._owed_bytes -= sent
            self._position += sent
            if self._position == len(self._stream):
                self._position = 0
        return True

    @property
    def is_sent(self) -> bool:
        return not self._owed_bytes

    def take(self) -> int:
        """Read once, with TLS all that epoll cannot see any more; how many answers became whole."""
        count = self._take_once()
        while self._is_tls and (more := self._take_once()) >= 0:
            count += more
        return max(count, 0)

    def _take_once(self) -> int:
        """-1 when there is nothing to read."""
        try:
            got = self.sock.recv_into(self.answers.free())
        except WOULD_BLOCK:
            return -1
        if not got:
            raise WrongAnswer("the broker closed the connection")
        count = self.answers.add(got)
        self.open -= count
        return count


def run(task: Task) -> Outcome:
    """Keep every lane full until the time is over, then wait for what is open."""
    connections = {}
    poll = select.epoll()
    for lane in task.lanes:
        connection = Connection(task, lane)
        connections[connection.sock.fileno()] = connection
    writes = select.EPOLLIN | select.EPOLLOUT
    begun, begun_cpu_s = time.perf_counter(), time.process_time()
    deadline = begun + task.seconds
    for number, connection in connections.items():
        poll.register(number, select.EPOLLIN if connection.ask(task.in_flight) else writes)
    answered = 0
    answers_max = task.payload_bytes_max // (task.fetch_bytes or task.batch_bytes)
    ended = begun
    is_over = False
    while any(connection.open for connection in connections.values()):
        events = poll.poll(SILENCE_S_MAX)
        if not events:
            raise WrongAnswer(f"no answer for {SILENCE_S_MAX:.0f} s")
        ended = time.perf_counter()
        is_over = is_over or ended >= deadline or answered >= answers_max
        for number, event in events:
            connection = connections[number]
            is_sent = not event & select.EPOLLOUT or connection.send()
            if event & ~select.EPOLLOUT:
                count = connection.take()
                answered += count
                if task.in_bursts:
                    count = 0 if connection.open else task.in_flight
                if count and not is_over:
                    is_sent = connection.ask(count)
            poll.modify(number, select.EPOLLIN if is_sent else writes)
    cpu_s = time.process_time() - begun_cpu_s
    payload = sum(connection.answers.payload_bytes for connection in connections.values())
    if not task.fetch_bytes:
        payload = answered * len(frames.batch(task.batch_bytes)[0])
    return Outcome(
        requests=answered,
        payload_bytes=payload,
        seconds=ended - begun,
        latencies_ms=[],
        cpu_s=cpu_s,
    )


def run_paced(task: Task) -> Outcome:
    """One request at each tick of the clock; latency counts from the tick, not from the send."""
    connection = Connection(task, task.lanes[0])
    sock = connection.sock
    interval_s = 1 / task.per_second
    total = int(task.seconds * task.per_second)
    latencies_ms: list[float] = []
    begun = time.perf_counter()
    asked = 0
    while len(latencies_ms) < total:
        now = time.perf_counter()
        if asked < total and now >= begun + asked * interval_s:
            connection.ask(1)
            asked += 1
            continue
        wait_s = begun + asked * interval_s - now if asked < total else SILENCE_S_MAX
        waits_to_send = [] if connection.is_sent else [sock]
        readable, writable, _ = select.select([sock], waits_to_send, [], wait_s)
        if writable:
            connection.send()
        if readable:
            count = connection.take()
            now = time.perf_counter()
            due = len(latencies_ms)
            latencies_ms += [
                (now - begun - number * interval_s) * 1000 for number in range(due, due + count)
            ]
        elif asked == total and not writable:
            raise WrongAnswer(f"no answer for {SILENCE_S_MAX:.0f} s")
    return Outcome(
        requests=total,
        payload_bytes=total * connection.request_bytes,
        seconds=time.perf_counter() - begun,
        latencies_ms=latencies_ms,
    )


def main() -> int:
    task = Task.load(json.load(sys.stdin))
    try:
        outcome = run_paced(task) if task.per_second else run(task)
    except (WrongAnswer, OSError) as error:
        sys.stderr.write(f"generator: {error}\n")
        return 1
    json.dump(asdict(outcome), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
