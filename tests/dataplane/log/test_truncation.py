"""Cutting the tail where there are no bytes to cut (KIP-101, KIP-279)."""

from __future__ import annotations

from tests.dataplane.log.support import World, append


def test_an_epoch_without_records_is_cut_with_the_empty_tail() -> None:
    """A leader that appended nothing steps down; the next leader never had its epoch.

    The follower is told to cut at its own end. If its epoch stayed, each of its fetches would
    name an epoch that the leader does not know, and diverge for ever.
    """
    log = World().open()
    append(log, 3, epoch=4)
    log.assign_epoch_start(5, log.log_end_offset)
    assert log.latest_epoch == 5
    log.truncate_to(3)
    assert log.log_end_offset == 3
    assert log.latest_epoch == 4


def test_cutting_beyond_the_end_keeps_epochs_that_have_records() -> None:
    log = World().open()
    append(log, 3, epoch=4)
    append(log, 1, epoch=5)
    log.truncate_to(100)
    assert log.log_end_offset == 4
    assert log.latest_epoch == 5


def test_the_cut_epoch_stays_gone_after_reopening() -> None:
    world = World()
    log = world.open()
    append(log, 3, epoch=4)
    log.assign_epoch_start(5, log.log_end_offset)
    log.truncate_to(3)
    log.close()
    assert world.open().latest_epoch == 4
