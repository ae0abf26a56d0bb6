"""Names of certificates as Java's `X500Principal.getName()` spells them, and when they end."""

from __future__ import annotations

import contextlib
import datetime as dt

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st

from dataplane.security.certificate import CertificateError, not_after_ms, subject_name

KEY = ec.generate_private_key(ec.SECP256R1())
STARTS = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
ENDS = dt.datetime(2031, 2, 3, 4, 5, 6, tzinfo=dt.UTC)


def certificate(subject: x509.Name, ends: dt.datetime = ENDS) -> bytes:
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "issuer")]))
        .public_key(KEY.public_key())
        .serial_number(1)
        .not_valid_before(STARTS)
        .not_valid_after(ends)
        .sign(KEY, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.DER)


def with_subject(der: bytes) -> bytes:
    """An unsigned certificate around a subject, for subjects that the library does not make."""

    def sequence(*parts: bytes) -> bytes:
        body = b"".join(parts)
        assert len(body) < 1 << 16
        return b"\x30\x82" + len(body).to_bytes(2, "big") + body

    time = b"\x17\x0d310203040506Z"
    return sequence(sequence(b"\x02\x01\x01", sequence(), sequence(), sequence(time, time), der))


# What Java 17 answered for these subjects in DER.
SUBJECTS = {
    "escapes": (
        (
            "3050310b3009060355040613024445311e301c060355040a0c1545782c20496e632e2b227822203c"
            "613e3b625c3d23310e300c060355040b0c05236c6561643111300f06035504030c08207370206163"
            "6520"
        ),
        ('CN=\\ sp ace\\ ,OU=\\#lead,O=Ex\\, Inc.\\+\\"x\\" \\<a\\>\\;b\\\\\\=\\#,C=DE'),
    ),
    "keywords and numbers": (
        (
            "3081983120300c06035504030c05616c6963653010060a0992268993f22c6401010c027531311430"
            "1206092a864886f70d01090116056140622e63310a300806035504090c017331123010060a099226"
            "8993f22c64011916026463310c300a06035504070c034cc3b6310b300906035504080c027374310a"
            "3008060355040c0c0174310b3009060355040513023132310a300806032a03040c0178"
        ),
        (
            "1.2.3.4=#0c0178,2.5.4.5=#13023132,2.5.4.12=#0c0174,ST=st,L=Lö,DC=dc,STREET=s,1"
            ".2.840.113549.1.9.1=#16056140622e63,CN=alice+UID=u1"
        ),
    ),
    "control characters": (
        ("30143112301006035504030c096100620a630d640965"),
        ("CN=a\\00b\nc\rd\te"),
    ),
    "BMPString": (
        ("3011310f300d06035504031e060062006d0070"),
        ("CN=\\00b\\00m\\00p"),
    ),
    "T61String": (
        ("300f310d300b0603550403140474363178"),
        ("CN=t61x"),
    ),
    "UniversalString": (
        ("30173115301306035504031c0c000000750000006e00000069"),
        ("CN=#1c0c000000750000006e00000069"),
    ),
    "NumericString": (
        ("300e310c300a060355040312036e756d"),
        ("CN=#12036e756d"),
    ),
    "VisibleString": (
        ("300e310c300a06035504031a03766973"),
        ("CN=#1a03766973"),
    ),
    "returns at the ends": (
        ("3010310e300c06035504030c050d2078200d"),
        ("CN=\\\r\\ x\\ \\\r"),
    ),
    "not ASCII": (
        ("30263124302206035504030c1bc3a920c3bc20e697a5e69cac20f09f9880202a3f2728292d2e2f3a"),
        ("CN=é ü 日本 😀 *?'()-./:"),
    ),
    "blanks alone": (
        ("300e310c300a06035504030c03202020"),
        ("CN=\\ \\ \\ "),
    ),
    "several in one part": (
        ("30223120300806035504030c016230090603550406130244453009060355040a0c027a7a"),
        ("CN=b+C=DE+O=zz"),
    ),
}


@pytest.mark.parametrize(("der", "name"), SUBJECTS.values(), ids=SUBJECTS)
def test_a_subject_is_spelled_as_java_does(der: str, name: str) -> None:
    assert subject_name(with_subject(bytes.fromhex(der))) == name


def test_a_certificate_of_the_library_is_read() -> None:
    subject = x509.Name(
        [
            x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, "Example"),
            x509.NameAttribute(x509.NameOID.COMMON_NAME, "alice"),
        ]
    )
    assert subject_name(certificate(subject)) == "CN=alice,O=Example"
    assert subject_name(certificate(x509.Name([]))) == ""


@pytest.mark.parametrize("year", [2031, 2049, 2050, 9999])  # UTCTime ends with 2049
def test_the_end_of_validity_is_read(year: int) -> None:
    ends = ENDS.replace(year=year)
    assert not_after_ms(certificate(x509.Name([]), ends)) == int(ends.timestamp()) * 1000


@given(st.binary(max_size=80))
def test_what_is_no_certificate_is_refused(data: bytes) -> None:
    with pytest.raises(CertificateError):
        subject_name(data)


VALID = certificate(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "alice")]))


@given(at=st.integers(0, len(VALID) - 1), byte=st.integers(0, 255), kept=st.integers(0, len(VALID)))
def test_a_damaged_certificate_gives_a_name_or_is_refused(at: int, byte: int, kept: int) -> None:
    damaged = (VALID[:at] + bytes([byte]) + VALID[at + 1 :])[:kept]
    for read in (subject_name, not_after_ms):
        with contextlib.suppress(CertificateError):
            assert isinstance(read(damaged), str | int)
