"""What is remembered is bounded, never wrong, and stays while it is used."""

from hypothesis import given
from hypothesis import strategies as st

from perdure.known import Known


@given(st.lists(st.integers(0, 30), max_size=200), st.integers(1, 10))
def test_memory_is_bounded_and_never_wrong(keys, entries):
    known: Known[int] = Known(entries)
    for key in keys:
        found = known.get(bytes([key]))
        assert found in (None, key)
        known.put(bytes([key]), key)
        assert known.get(bytes([key])) == key

    assert len(known) <= 2 * entries + 1


def test_what_is_used_again_and_again_stays_known():
    known = Known(10)
    known.put(b"often", 1)
    for n in range(200):
        known.put(n.to_bytes(4, "big"), n)
        assert known.get(b"often") == 1
