"""Chromium without a window, for pages that are opened from a file."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.wait import WebDriverWait

_FLAGS = (
    "headless=new",
    "no-sandbox",
    "disable-gpu",
    "disable-quic",
    "disable-dev-shm-usage",
    "no-first-run",
    "disable-background-networking",
    "disable-component-update",
    "disable-sync",
    "window-size=1200,1000",
)
_PATIENCE_S = 30.0
_SLOWEST_SCRIPT_S = 300.0
"""For axe-core on a large page, beside other work."""


def find_programs() -> tuple[str, str] | None:
    """Return the browser and its driver where both are installed."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


@contextmanager
def open_browser() -> Iterator[Chrome]:
    """Open a browser with a profile of its own; skip the test where there is none."""
    found = find_programs()
    if found is None:
        pytest.skip("needs chromium and chromedriver")
    browser, driver = found
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = Options()
        options.binary_location = browser
        for flag in (*_FLAGS, f"user-data-dir={profile}"):
            options.add_argument(f"--{flag}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        chrome = Chrome(options=options, service=Service(driver))
        chrome.set_script_timeout(_SLOWEST_SCRIPT_S)
        try:
            yield chrome
        finally:
            chrome.quit()


def open_page(chrome: Chrome, path: Path, fragment: str = "") -> None:
    """Load the file anew, also where only the fragment differs, and wait for its list if it has one."""
    chrome.get("about:blank")
    chrome.get(f"{path.as_uri()}{fragment}")
    drawn = "return !document.querySelector('#heads') || document.querySelector('#heads .cell') !== null"
    WebDriverWait(chrome, _PATIENCE_S).until(lambda _: chrome.execute_script(drawn))


def read_axe() -> str:
    """Read the script of axe-core, which looks for what people with disabilities cannot use."""
    return files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def find_faults(chrome: Chrome) -> list[tuple[str, str, str]]:
    """Return what axe-core finds on the page: impact, rule and the first element."""
    chrome.execute_script(read_axe())
    found: list[dict[str, Any]] = chrome.execute_async_script(
        "const done = arguments[0]; axe.run().then((found) => done(found.violations))"
    )
    return [(each["impact"], each["id"], each["nodes"][0]["html"]) for each in found]
