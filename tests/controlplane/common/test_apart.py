"""One of many that fails is logged; a database that is away is everybody's trouble."""

import logging

import pytest
from django.db import InterfaceError, OperationalError

from controlplane.common.apart import apart
from controlplane.common.words import storable


def failing(error):
    def work():
        raise error

    return work


def test_what_fails_is_logged_and_the_round_goes_on(caplog):
    with caplog.at_level(logging.ERROR):
        assert apart("the look at kc_1", failing(TypeError("no list")), otherwise=0) == 0
        assert apart("the look at kc_2", lambda: 2, otherwise=0) == 2
    (record,) = caplog.records
    assert record.getMessage().startswith("the look at kc_1 failed")
    assert record.exc_info


@pytest.mark.parametrize("error", [OperationalError("away"), InterfaceError("away")])
def test_a_database_that_is_away_ends_the_round(error):
    with pytest.raises(type(error)):
        apart("the look at kc_1", failing(error), otherwise=0)


def test_text_that_no_database_takes_is_marked():
    assert storable("a\0b\ud800c é 🙂") == "a?b?c é 🙂"
