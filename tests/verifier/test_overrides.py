# SPDX-License-Identifier: Apache-2.0
"""What passes by break-glass: for so long and no longer, whatever is done to the clock."""

from datetime import UTC, datetime, timedelta

import pytest

from toolnotary_verifier.canonical import Digest
from toolnotary_verifier.definition import Kind
from toolnotary_verifier.overrides import Countdown, Override, live, moment, parse_moment

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = 86_400.0


def override(since: datetime = NOON, until: datetime = NOON + HOUR) -> Override:
    return Override(Kind.TOOL, "find", Digest.of(b"x"), moment(since), moment(until), "index is down")


@pytest.mark.parametrize(
    ("at", "passes"),
    [
        (NOON, True),
        (NOON + HOUR - timedelta(seconds=1), True),
        (NOON + HOUR, False),
        (NOON + 2 * HOUR, False),
        (NOON - timedelta(seconds=3), True),  # as clocks are put right all the time
        (NOON - timedelta(minutes=1), False),
    ],
)
def test_an_override_counts_from_its_record_to_its_end(at: datetime, passes: bool) -> None:
    assert bool(live([override()], at=at, latest=moment(NOON), most=DAY)) is passes


def test_a_clock_that_is_behind_what_is_recorded_lets_nothing_pass() -> None:
    later = moment(NOON + timedelta(minutes=30))
    assert live([override()], at=NOON + timedelta(minutes=30), latest=later, most=DAY)
    assert not live([override()], at=NOON + timedelta(minutes=20), latest=later, most=DAY)


def test_policy_ends_an_override_before_its_time() -> None:
    (one,) = live([override()], at=NOON, latest=moment(NOON), most=600)
    assert parse_moment(one.until) == NOON + timedelta(minutes=10)
    assert not live([override()], at=NOON + timedelta(minutes=10), latest=moment(NOON), most=600)


class Clocks:
    def __init__(self) -> None:
        self.wall, self.elapsed = NOON, 1000.0
        self.countdown = Countdown(wall=lambda: self.wall, elapsed=lambda: self.elapsed)

    def pass_time(self, seconds: float) -> None:
        self.wall += timedelta(seconds=seconds)
        self.elapsed += seconds


def test_a_process_that_runs_ends_it_by_whichever_clock_is_first() -> None:
    clocks, one = Clocks(), override()
    assert clocks.countdown.left([one]) == (one,)
    clocks.pass_time(3599)
    assert clocks.countdown.left([one]) == (one,)
    clocks.pass_time(1)
    assert clocks.countdown.left([one]) == ()
    assert clocks.countdown.over == {one}


def test_a_wall_clock_that_is_put_back_in_a_running_process_wins_no_time() -> None:
    clocks, one = Clocks(), override()
    clocks.countdown.left([one])
    clocks.pass_time(1800)
    clocks.wall = NOON
    clocks.elapsed += 1799
    assert clocks.countdown.left([one]) == (one,)
    clocks.elapsed += 1
    assert clocks.countdown.left([one]) == ()


def test_a_wall_clock_that_is_put_forward_ends_it_and_put_back_does_not_begin_it_again() -> None:
    clocks, one = Clocks(), override()
    clocks.countdown.left([one])
    clocks.wall = NOON + 2 * HOUR
    assert clocks.countdown.left([one]) == ()
    clocks.wall = NOON
    assert clocks.countdown.left([one]) == ()


def test_an_override_of_the_same_definition_that_was_made_later_has_its_own_time() -> None:
    clocks, one = Clocks(), override()
    clocks.countdown.left([one])
    clocks.pass_time(3600)
    again = override(NOON + HOUR, NOON + 2 * HOUR)
    assert clocks.countdown.left([one, again]) == (again,)
