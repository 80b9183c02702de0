"""Which strings count as identifiers."""

from __future__ import annotations

from perdure.stock.ledger.identifiers import identifiers_in


def test_a_counter_in_a_listing_is_not_a_setting():
    rows = "\n".join(f'{{"position": {n}, "retries": 6}}' for n in range(40))
    settings = [text for kind, text, _ in identifiers_in(rows) if kind == "setting"]
    assert settings == ['"retries": 6']


def test_addresses_of_a_pages_pictures_and_scripts_take_no_room():
    text = "https://a.example/app.js?v=3 https://a.example/logo.png https://a.example/orders/77"
    urls = [t for kind, t, _ in identifiers_in(text) if kind == "url"]
    assert urls == ["https://a.example/orders/77"]


def test_a_typed_default_is_named_by_its_variable_not_by_its_type():
    found = identifiers_in("def search(limit: int = 10, share: float = 0.25): ...")
    assert [t for kind, t, _ in found if kind == "setting"] == [
        "limit: int = 10",
        "share: float = 0.25",
    ]


def test_how_far_a_test_run_has_come_is_no_number_to_remember():
    found = identifiers_in("tests/test_a.py .... [ 36%]\ntests/test_b.py .... [100%]\ncoverage 81%")
    assert [t for kind, t, _ in found if kind == "number"] == ["81%"]
