"""The addresses of this host that others can reach it by (Linux)."""

from __future__ import annotations

import fcntl
import ipaddress
import socket
import struct
from pathlib import Path

SIOCGIFADDR = 0x8915
IPV6_ADDRESSES = Path("/proc/net/if_inet6")


def beside_loopback() -> list[str]:
    """IPv4 first; link-local ones, which nobody is told, are left out."""
    found = [*_ipv4(), *_ipv6()]
    addresses = [ipaddress.ip_address(text) for text in found]
    return [str(each) for each in addresses if not (each.is_loopback or each.is_link_local)]


def _ipv4() -> list[str]:
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            try:
                answer = fcntl.ioctl(asked, SIOCGIFADDR, request)
            except OSError:
                continue  # it has none
            found.append(socket.inet_ntoa(answer[20:24]))
    return found


def _ipv6() -> list[str]:
    try:
        lines = IPV6_ADDRESSES.read_text().splitlines()
    except OSError:
        return []  # a kernel without IPv6
    return [str(ipaddress.IPv6Address(int(line.split()[0], 16))) for line in lines if line]
