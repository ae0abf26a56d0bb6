"""What a host has left, as its agent says it; what cannot be read is null."""

from __future__ import annotations

import argparse
import json

import pytest

from dataplane.agent.capacity import (
    PORTS_MAX,
    Capacity,
    CapacityReports,
    capacity_of,
    listening_in,
    memory_in,
)
from dataplane.agent.main import LABELS_MAX, ArgumentsError, labels_from, settings_from
from dataplane.ports.coordinator import ConnectionLossError
from tests.waiting import until

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"


def line(port, state="0A"):
    return f"   0: 0100007F:{port:04X} 00000000:0000 {state} 00000000:00000000 00:00000000 0 0\n"


def test_ports_that_somebody_listens_on():
    text = HEAD + line(19_100) + line(19_101, "01") + line(22)
    assert listening_in(text) == {19_100, 22}
    assert listening_in("") == set()


def test_memory_is_what_new_processes_can_have():
    text = "MemTotal:  1000 kB\nMemFree:  1 kB\nMemAvailable:  500 kB\nHugePages_Total:  0\n"
    assert memory_in(text) == (1_024_000, 512_000)
    assert memory_in("nonsense") == (None, None)


def test_what_is_read_of_this_machine(tmp_path):
    tcp = tmp_path / "tcp"
    tcp.write_text(HEAD + line(19_150) + line(80))
    found = capacity_of(tmp_path, (19_100, 19_199), sockets=[tcp, tmp_path / "tcp6"])
    assert found.ports_busy == (19_150,)
    assert found.disk_total_bytes >= found.disk_free_bytes > 0
    assert found.memory_total_bytes >= found.memory_free_bytes > 0
    assert found.cores >= 1
    assert json.loads(found.encode())["v"] == 1


def test_what_cannot_be_read_is_null(tmp_path):
    gone = tmp_path / "gone"
    found = capacity_of(gone, (1, 9), memory=gone, sockets=[gone])
    assert (found.disk_total_bytes, found.disk_free_bytes) == (None, None)
    assert (found.memory_total_bytes, found.memory_free_bytes) == (None, None)
    assert found.ports_busy is None
    gone.write_bytes(b"\xff\n\xff a:ZZ b 0A\n")
    assert capacity_of(tmp_path, (1, 9), sockets=[gone]).ports_busy is None
    many = tmp_path / "many"
    many.write_text(HEAD + "".join(line(port) for port in range(1, PORTS_MAX + 2)))
    assert capacity_of(tmp_path, (1, 9_999), sockets=[many]).ports_busy is None


async def test_reports_go_on_when_one_cannot_be_written():
    written = []

    async def write(data):
        written.append(data)
        if len(written) == 1:
            raise ConnectionLossError("away")

    nothing = Capacity(
        disk_total_bytes=None, disk_free_bytes=None, memory_total_bytes=None,
        memory_free_bytes=None, cores=None, load=None, ports_busy=None,
    )  # fmt: skip
    reports = CapacityReports(lambda: nothing, write, every_s=0.001)
    reports.start()
    await until(lambda: len(written) > 2)
    await reports.close()
    count = len(written)
    assert json.loads(written[0])["cores"] is None
    assert len(written) == count


@pytest.mark.parametrize(
    "text", ["", "a", "=b", "a=", "A=b", "a b=c", "a=<b>", "k" * 64 + "=v", "k=" + "v" * 64]
)
def test_what_is_no_label(text):
    with pytest.raises(ArgumentsError, match="--label"):
        labels_from([text])


def test_labels_are_bounded_and_the_last_of_a_key_holds(monkeypatch):
    assert labels_from(["disk=nvme", "disk=hdd", "zone.x/y=West 1"]) == {
        "disk": "hdd", "zone.x/y": "West 1",
    }  # fmt: skip
    monkeypatch.setenv("PENSTOCK_HOST_LABELS", "disk=ssd,zone=west,")
    options = argparse.Namespace(
        host_id="h1",
        data_dir="d",
        rack=None,
        port_range="1-9",
        address="10.0.0.1",
        zookeeper="127.0.0.1:2181",
    )
    assert settings_from(options).labels == {"disk": "ssd", "zone": "west"}
    with pytest.raises(ArgumentsError, match=f"at most {LABELS_MAX}"):
        labels_from([f"k{number}=v" for number in range(LABELS_MAX + 1)])
