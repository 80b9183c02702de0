"""Take the picture of the report that the documentation shows.

    python docs/screenshot.py

Compresses the example session, opens the page in Chromium without a network and writes
docs/how-to/report.png. Needs the requirements for development and a Chromium on the path.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

DOCS = Path(__file__).resolve().parent
PICTURE = DOCS / "how-to" / "report.png"
SESSION = DOCS / "examples" / "session.jsonl"
SIZE = {"width": 1120, "height": 800}
SHOWN = 164
"""A result that was shortened, so that the picture shows what is sent in its place."""


def main() -> None:
    """Write the picture."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("there is no chromium on the path; install it, e.g. apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        page_file = Path(folder, "report.html")
        command = [sys.executable, "-m", "perdure", "compress", str(SESSION), "--dry-run"]
        command += ["--context-length", "64000", "--report", str(page_file)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own
        with sync_playwright() as driver:
            browser = driver.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", "--disable-lcd-text"]
            )
            page = browser.new_page(viewport=SIZE)
            page.context.set_offline(True)
            page.goto(page_file.as_uri())
            page.click(f"#strip button:nth-child({SHOWN + 1})")
            page.check("#broken")
            page.screenshot(path=str(PICTURE))
            browser.close()


if __name__ == "__main__":
    main()
