"""The report in a real browser: no network, nothing that runs, each original one click away."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from perdure.cli import cli

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

EXAMPLE = Path(__file__).resolve().parents[1] / "docs" / "examples" / "session.jsonl"
CHROMIUM = os.environ.get("PERDURE_TEST_CHROMIUM") or shutil.which("chromium")
HOSTILE = "<script>document.title = 'taken over'</script><img src=x onerror=\"document.title='x'\">"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")


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


def report(session: Path, folder: Path) -> Path:
    made = folder / "report.html"
    command = ["compress", str(session), "--context-length", "64000", "--report", str(made)]
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


def test_report_needs_no_network_and_no_message_lacks_its_fate(browser, example):
    messages = EXAMPLE.read_text(encoding="utf-8").splitlines()

    with Shown(browser, example) as shown:
        titles = [b.get_attribute("title") for b in shown.page.query_selector_all("#strip button")]
        legend = shown.text("#legend")

        assert shown.asked == [example.as_uri()]
        assert shown.complaints == []
        assert len(titles) == len(messages)
        assert {title.rsplit(", ", 1)[1] for title in titles} <= set(
            legend.replace("\n", " ").replace(":", " ").split()
        )
        assert "[Perdure handoff" in shown.text("#handoffs")
        assert "user rules" in shown.text("#ledger")


def test_each_original_is_one_click_or_one_key_away(browser, example):
    messages = [json.loads(line) for line in EXAMPLE.read_text(encoding="utf-8").splitlines()]
    places = [i for i, m in enumerate(messages) if isinstance(m["content"], str)][::40]

    with Shown(browser, example) as shown:
        for place in places:
            shown.page.click(f"#strip button:nth-child({place + 1})")
            original = shown.page.text_content("#original") or ""
            assert original.startswith(messages[place]["content"])
        shown.page.keyboard.press("ArrowLeft")
        assert f"message {places[-1] - 1}," in shown.text("#which")
        focused = shown.page.evaluate("document.activeElement.getAttribute('aria-pressed')")
        assert focused == "true"


def test_messages_that_hold_a_word_are_found(browser, example):
    texts = EXAMPLE.read_text(encoding="utf-8").lower().splitlines()
    holders = [i for i, text in enumerate(texts) if "write-ahead" in text]

    with Shown(browser, example) as shown:
        shown.page.fill("#find", "Write-Ahead")
        lit = shown.page.query_selector_all("#strip button:not(.off)")
        shown.page.press("#find", "Enter")

        assert len(lit) == len(holders)
        assert shown.text("#found").startswith(f"{len(holders)} of ")
        assert shown.text("#which").startswith(f"message {holders[0]},")


def test_text_of_messages_is_data_and_never_runs(browser, tmp_path):
    messages = [
        {"role": "user", "content": f"Never do this: {HOSTILE} {turn}"} if turn % 2 == 0
        else {"role": "assistant", "content": f"{HOSTILE} </script> " + "word " * 400}
        for turn in range(200)
    ]  # fmt: skip
    session = tmp_path / "chat.json"
    session.write_text(json.dumps(messages), encoding="utf-8")

    with Shown(browser, report(session, tmp_path)) as shown:
        shown.page.click("#strip button:nth-child(2)")

        assert HOSTILE in (shown.page.text_content("#original") or "")
        assert shown.page.title() == "Perdure: what became of a session"
        assert shown.page.query_selector_all("main img") == []
        assert shown.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1440])
def test_page_fits_narrow_and_wide_windows(browser, example, width, scheme):
    size = {"width": width, "height": 900}

    with Shown(browser, example, viewport=size, color_scheme=scheme) as shown:
        wide = shown.page.evaluate("document.documentElement.scrollWidth")
        shown.page.screenshot(path=str(example.parent / f"{width}-{scheme}.png"))

    assert wide <= width
