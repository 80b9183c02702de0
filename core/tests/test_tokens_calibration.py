"""Counts are corrected by real usage, within sane bounds."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.tokens import Calibration
from perdure.tokens.calibration import HIGHEST, LOWEST

REPORTS = st.lists(
    st.tuples(
        st.integers(-10, 10**7), st.none() | st.integers(-10, 10**8) | st.floats(allow_nan=True)
    ),
    max_size=30,
)


def test_nothing_is_corrected_before_something_is_known():
    assert Calibration().corrected(12_345) == 12_345


def test_the_first_report_is_taken_as_it_is_and_later_ones_are_smoothed():
    once = Calibration().updated(10_000, 12_000)
    twice = once.updated(10_000, 14_000)

    assert once.corrected(1_000) == 1_200
    assert 1_200 < twice.corrected(1_000) < 1_400
    assert twice.samples == 2


def test_steady_reports_lead_to_their_ratio():
    calibration = Calibration().updated(10_000, 19_000)
    for _ in range(40):
        calibration = calibration.updated(10_000, 11_000)

    assert calibration.ratio == pytest.approx(1.1, abs=0.001)


@pytest.mark.parametrize(
    ("counted", "real"),
    [
        (10_000, None),
        (10_000, 0),
        (10_000, -5),
        (10_000, 300),
        (10_000, 90_000),
        (10_000, math.nan),
        (10_000, math.inf),
        (0, 10),
        (20, 40),
    ],
)
def test_nonsense_is_not_believed(counted, real):
    calibration = Calibration().updated(10_000, 12_000)

    assert calibration.updated(counted, real) == calibration


def test_a_tokeniser_far_above_the_count_moves_the_ratio_to_its_bound():
    assert Calibration().updated(10_000, 25_000).ratio == HIGHEST


@given(REPORTS, st.integers(0, 10**7))
def test_the_correction_stays_within_its_bounds_whatever_is_reported(reports, counted):
    calibration = Calibration()
    for report in reports:
        calibration = calibration.updated(*report)

    assert LOWEST * counted - 1 <= calibration.corrected(counted) <= HIGHEST * counted + 1


@pytest.mark.parametrize("ratio", [0.0, -3.0, 99.0])
def test_a_stored_ratio_out_of_bounds_is_not_applied(ratio):
    assert 500 <= Calibration(ratio, 9).corrected(1_000) <= 2_000
