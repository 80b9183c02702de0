"""The report in a real browser: no network, nothing that runs, each original one click away."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from perdure.cli import cli
from perdure.cli.report import FATES

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

EXAMPLE = Path(__file__).resolve().parents[1] / "docs" / "examples" / "session.jsonl"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = os.environ.get("PERDURE_TEST_CHROMIUM") or next(
    filter(None, map(shutil.which, BROWSERS)), None
)
HOSTILE = "<script>document.title = 'taken over'</script><img src=x onerror=\"document.title='x'\">"
MESSAGES = 2_000
OPENS_IN_S = 5.0
"""Many times what it takes, so that a busy machine does not fail."""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=quiet)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def example(tmp_path_factory) -> Path:
    return report(EXAMPLE, tmp_path_factory.mktemp("report"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    messages = [
        {"role": "user", "content": f"Never do this: {HOSTILE} \u202eevil\u202c {turn}"}
        if turn % 2 == 0
        else {"role": "assistant", "content": f"{HOSTILE} </script><!-- <script> " + "word " * 400}
        for turn in range(MESSAGES)
    ]
    (folder / "chat.json").write_text(json.dumps(messages), encoding="utf-8")
    return report(folder / "chat.json", folder)


def report(session: Path, folder: Path, *options: str) -> Path:
    made = folder / "report.html"
    command = ["compress", str(session), "--context-length", "64000", "--report", str(made)]
    command += options
    done = CliRunner().invoke(cli, command, env={"XDG_STATE_HOME": str(folder)})
    assert done.exit_code == 0, done.output
    return made


class Shown:
    """A page of a report, with what it complained about and asked the network for."""

    def __init__(self, browser: Any, file: Path, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.context.set_offline(True)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    @property
    def chosen(self) -> int:
        return int(self.text("#which").split(",")[0].removeprefix("message "))


def test_report_needs_no_network_and_no_message_lacks_its_fate(browser, example):
    messages = EXAMPLE.read_text(encoding="utf-8").splitlines()

    with Shown(browser, example) as shown:
        titles = [b.get_attribute("title") for b in shown.page.query_selector_all("#strip button")]
        legend = shown.page.locator("#legend .name").all_inner_texts()

        assert shown.asked == [example.as_uri()]
        assert shown.complaints == []
        assert len(titles) == len(messages)
        assert {title.rsplit(", ", 1)[1] for title in titles} == set(legend)
        assert "[Perdure handoff" in shown.text("#handoffs")
        assert "always run ruff" in shown.text("#ledger")


def test_each_original_is_one_click_away(browser, example):
    messages = [json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]
    places = [i for i, m in enumerate(messages) if isinstance(m["content"], str)][::20]

    with Shown(browser, example) as shown:
        for place in places:
            shown.page.click(f"#strip button:nth-child({place + 1})")
            original = shown.page.text_content("#original") or ""
            assert original.startswith(messages[place]["content"])
            assert shown.chosen == place


def test_what_is_sent_in_place_of_an_original_stands_below_it(browser, example):
    with Shown(browser, example) as shown:
        shown.page.click("#strip button.shortened >> nth=0")
        assert "ref:" in shown.text("#now pre")

        shown.page.click("#strip button.handoff >> nth=0")
        assert shown.text("#now button").startswith("The handoff, for messages")
        assert shown.page.locator("#sent [aria-current=true]").count() == 1

        shown.page.click("#strip button.kept >> nth=0")
        assert shown.text("#now") == ""


def test_line_breaks_that_json_escapes_are_shown_as_such_when_asked(browser, example):
    with Shown(browser, example) as shown:
        shown.page.click("#strip button.shortened >> nth=0")
        assert "\\n" in (original := shown.page.text_content("#original") or "")

        shown.page.check("#broken")
        assert shown.page.text_content("#original") == original.replace("\\n", "\n")

        shown.page.click("#strip button >> nth=0")
        assert not shown.page.is_visible("#broken")


def test_page_can_be_used_with_the_keyboard_alone(browser, example):
    count = len(EXAMPLE.read_text(encoding="utf-8").splitlines())

    with Shown(browser, example) as shown:
        press = shown.page.keyboard.press
        press("Tab")  # the search
        press("Tab")  # the strip, which is one stop
        steps = {"End": count - 1, "ArrowRight": count - 1, "ArrowLeft": count - 2, "Home": 0}
        for key, place in steps.items():
            press(key)
            assert shown.chosen == place
        press("ArrowDown")
        below = shown.chosen
        press("ArrowUp")
        assert shown.chosen < 5 < below
        assert shown.page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
        press("Tab")  # the legend
        press("Enter")
        fates = {"only": "#strip button:not(.off)", "kept": "#strip button.kept"}
        assert len({shown.page.locator(selector).count() for selector in fates.values()}) == 1


def test_messages_that_hold_a_word_are_found(browser, example):
    texts = EXAMPLE.read_text(encoding="utf-8").lower().splitlines()
    holders = [i for i, text in enumerate(texts) if "write-ahead" in text]

    with Shown(browser, example) as shown:
        shown.page.fill("#find", "Write-Ahead")
        lit = shown.page.query_selector_all("#strip button:not(.off)")
        shown.page.press("#find", "Enter")

        assert len(lit) == len(holders)
        assert shown.text("#found").startswith(f"{len(holders)} of ")
        assert shown.chosen == holders[0]


def test_text_of_messages_is_data_and_never_runs(browser, hostile):
    with Shown(browser, hostile) as shown:
        for place in (1, 2):
            shown.page.click(f"#strip button:nth-child({place})")
            assert HOSTILE in (shown.page.text_content("#original") or "")

        assert shown.page.title() == "Perdure: what became of a session"
        assert shown.page.locator("img, main script").count() == 0
        assert shown.complaints == []


def test_characters_that_reorder_text_are_shown_by_their_code(browser, hostile):
    with Shown(browser, hostile) as shown:
        shown.page.click("#strip button:nth-child(1)")
        codes = shown.page.locator("#original .control")
        shown_as = [code.get_attribute("data-code") for code in codes.all()]

        assert shown_as == ["U+202E", "U+202C"]
        assert "\u202eevil\u202c" in (shown.page.text_content("#original") or "")


def test_long_session_opens_fast(browser, hostile):
    before = time.monotonic()
    with Shown(browser, hostile) as shown:
        assert shown.page.locator("#strip button").count() == MESSAGES
        shown.page.click(f"#strip button:nth-child({MESSAGES})")
        shown.page.fill("#find", "evil")

    assert time.monotonic() - before < OPENS_IN_S


def test_dry_run_says_so_on_the_page(browser, tmp_path):
    with Shown(browser, report(EXAMPLE, tmp_path, "--dry-run")) as shown:
        assert "would become" in shown.text("h1")
        assert "dry run" in shown.text("#subtitle")


@pytest.mark.parametrize("messages", [[], [{"role": "user", "content": "hi"}]])
def test_session_that_needs_nothing_is_shown_as_it_is(browser, tmp_path, messages):
    session = tmp_path / "chat.json"
    session.write_text(json.dumps(messages), encoding="utf-8")

    with Shown(browser, report(session, tmp_path)) as shown:
        assert "unchanged" in shown.text("h1")
        assert "nothing had to be summarised" in shown.text("#handoffs")
        assert shown.complaints == []


@pytest.mark.parametrize("width", [360, 1440])
def test_page_fits_narrow_and_wide_windows(browser, example, hostile, width):
    for made in (example, hostile):
        with Shown(browser, made, viewport={"width": width, "height": 900}) as shown:
            shown.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            shown.page.click("#strip button >> nth=3")
            assert shown.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_stand_off_their_ground(browser, example, scheme):
    with Shown(browser, example, color_scheme=scheme) as shown:
        names = ["ink", "dim", "warn", "page", "card", *FATES]
        values = shown.page.evaluate(
            """names => names.map(name => {
              document.body.style.color = `var(--${name})`;
              return getComputedStyle(document.body).color.match(/\\d+/g).map(Number);
            })""",
            names,
        )
    colours = dict(zip(names, map(luminance, values), strict=True))

    for ground in ("page", "card"):
        assert (
            min(contrast(colours[name], colours[ground]) for name in ("ink", "dim", "warn")) > 4.5
        )
        assert min(contrast(colours[fate], colours[ground]) for fate in FATES) > 3


def luminance(rgb: list[int]) -> float:
    """Relative luminance of a colour, as WCAG 2 defines it."""
    parts = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def contrast(one: float, other: float) -> float:
    dark, light = sorted((one, other))
    return (light + 0.05) / (dark + 0.05)
