"""What a certificate says: its subject's name as Java spells it, and when it ends.

Reads DER just far enough (RFC 5280, 4.1): the certificate itself was checked by the TLS library.
Names are those of `X500Principal.getName()`, which Kafka makes principals of: RFC 2253, the last
part first, with Java's own choice of keywords, escapes and types.
"""

from __future__ import annotations

import calendar
import re
from typing import Final

_INTEGER, _OID, _SEQUENCE, _SET = 0x02, 0x06, 0x30, 0x31
_UTC_TIME, _GENERALIZED_TIME = 0x17, 0x18
_VERSION = 0xA0
_LONG_LENGTH = 0x80
_LENGTH_BYTES_MAX = 4

_KEYWORDS: Final = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
"""Every other type is written as its number, and its value in hexadecimal."""

_STRINGS: Final = frozenset({0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1E})
"""UTF8, Printable, T61, IA5, General, BMP: all are read as UTF-8, as Java does."""

_ESCAPED: Final = frozenset(',=+<>#;"\\')
_TRIMMED: Final = " \r"


_TIMES: Final = {
    _UTC_TIME: re.compile(rb"(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z"),
    _GENERALIZED_TIME: re.compile(rb"(\d{4})(\d{2})(\d{2})(\d{2})(\d{2})(\d{2})Z"),
}
"""In the forms that certificates may have: whole seconds, UTC."""


class CertificateError(ValueError):
    """The bytes are not a certificate."""


class _Reader:
    """One element after the other; every length is checked against what is there."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._data)

    def peek(self) -> int:
        if self.is_at_end:
            raise CertificateError("the certificate ends too early")
        return self._data[self._at]

    def element(self) -> tuple[int, bytes, bytes]:
        """(tag, content, the element as a whole)."""
        start = self._at
        tag, first = self._take(2)
        if first & _LONG_LENGTH:
            count = first & 0x7F
            if not 0 < count <= _LENGTH_BYTES_MAX:
                raise CertificateError("a length in the certificate is not in DER")
            first = int.from_bytes(self._take(count), "big")
        content = self._take(first)
        return tag, content, self._data[start : self._at]

    def content(self, *tags: int) -> bytes:
        tag, content, _whole = self.element()
        if tag not in tags:
            raise CertificateError(f"the certificate has 0x{tag:02x} in an unexpected place")
        return content

    def _take(self, count: int) -> bytes:
        end = self._at + count
        if end > len(self._data):
            raise CertificateError("the certificate ends too early")
        taken, self._at = self._data[self._at : end], end
        return taken


def subject_name(certificate: bytes) -> str:
    """`CN=alice,OU=…`; empty for an empty subject. CertificateError."""
    return _name(_up_to_subject(certificate)[1])


def not_after_ms(certificate: bytes) -> int:
    """The moment, since 1970, after which the certificate is no longer valid. CertificateError."""
    validity = _Reader(_up_to_subject(certificate)[0])
    validity.element()  # not before
    tag, content, _whole = validity.element()
    found = _TIMES[tag].fullmatch(content) if tag in _TIMES else None
    if found is None:
        raise CertificateError("the certificate's validity is no time")
    year, month, *rest = (int(part) for part in found.groups())
    if tag == _UTC_TIME:
        year += 1900 if year >= 50 else 2000
    if not (1 <= month <= 12 and year):
        raise CertificateError("the certificate's validity is no time")
    return calendar.timegm((year, month, *rest)) * 1000


def _up_to_subject(certificate: bytes) -> tuple[bytes, bytes]:
    """The content of the validity and of the subject."""
    signed = _Reader(_Reader(certificate).content(_SEQUENCE))
    fields = _Reader(signed.content(_SEQUENCE))
    if fields.peek() == _VERSION:
        fields.element()
    fields.content(_INTEGER)  # serial number
    fields.content(_SEQUENCE)  # algorithm
    fields.content(_SEQUENCE)  # issuer
    return fields.content(_SEQUENCE), fields.content(_SEQUENCE)


def _name(content: bytes) -> str:
    parts = []
    names = _Reader(content)
    while not names.is_at_end:
        pairs = _Reader(names.content(_SET))
        spelled = []
        while not pairs.is_at_end:
            pair = _Reader(pairs.content(_SEQUENCE))
            number = _number(pair.content(_OID))
            spelled.append(_pair(number, *pair.element()))
        parts.append("+".join(spelled))
    return ",".join(reversed(parts))


def _pair(number: str, tag: int, content: bytes, whole: bytes) -> str:
    keyword = _KEYWORDS.get(number)
    if keyword is None or tag not in _STRINGS:
        return f"{keyword or number}=#{whole.hex()}"
    return f"{keyword}={_escaped(content.decode(errors='replace'))}"


def _escaped(text: str) -> str:
    marked = [f"\\{char}" if char in _ESCAPED else char for char in text]
    lead = len(text) - len(text.lstrip(_TRIMMED))
    trail = max(len(text.rstrip(_TRIMMED)), lead)
    for at in (*range(lead), *range(trail, len(text))):
        marked[at] = f"\\{text[at]}"
    return "".join(marked).replace("\0", "\\00")


def _number(content: bytes) -> str:
    """An object identifier in dotted form (X.690, 8.19)."""
    parts: list[int] = []
    value = 0
    for byte in content:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            parts.append(value)
            value = 0
    if not parts or content[-1] & 0x80:
        raise CertificateError("an object identifier in the certificate ends too early")
    first = min(parts[0] // 40, 2)
    return ".".join(map(str, (first, parts[0] - 40 * first, *parts[1:])))
