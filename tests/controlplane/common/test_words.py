"""Numbers and durations as plans say them."""

import pytest

from controlplane.common.words import counted, lasting, sized


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 keys"), (1, "1 key"), (2, "2 keys"), (1_000, "1000 keys")]
)
def test_a_noun_follows_its_number(number, said):
    assert counted(number, "key") == said


def test_a_plural_of_its_own():
    assert [counted(number, "copy", "copies") for number in (1, 2)] == ["1 copy", "2 copies"]


@pytest.mark.parametrize(
    ("duration_ms", "said"),
    [
        (0, "0 milliseconds"),
        (1, "1 millisecond"),
        (999, "999 milliseconds"),
        (1_000, "1 second"),
        (90_000, "1 minute 30 seconds"),
        (3_600_000, "1 hour"),
        (604_800_000, "7 days"),
        (86_400_001, "1 day 1 millisecond"),
        (90_061_000, "about 1 day 1 hour"),
        (9_223_372_036_854_775_807, "about 106751991167 days 7 hours"),
    ],
)
def test_a_duration_in_words(duration_ms, said):
    assert lasting(duration_ms) == said


@pytest.mark.parametrize(
    ("number_bytes", "said"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1_023, "1023 bytes"),
        (1_024, "1 KiB (1024 bytes)"),
        (30_000, "29.3 KiB (30000 bytes)"),
        (1_048_000, "1023 KiB (1048000 bytes)"),
        (1_610_612_736, "1.5 GiB (1610612736 bytes)"),
        (9_223_372_036_854_775_807, "9223372036854775807 bytes"),
    ],
)
def test_a_size_in_words_and_exactly(number_bytes, said):
    assert sized(number_bytes) == said
