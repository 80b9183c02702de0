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
