"""Finds a Chromium for the browser tests, or gets one. `python -m tests.e2e.browser` does it before the tests run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def on_path() -> Path | None:
    """The browser on the PATH; without one, Playwright takes its own."""
    return next((Path(found) for name in NAMES if (found := shutil.which(name))), None)


def find() -> Path | None:
    """The browser that the tests will use, or none."""
    if found := on_path():
        return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        return own if own.exists() else None


def get() -> None:
    """Installs one: Debian's as root, else Playwright's."""
    if shutil.which("apt-get") and os.geteuid() == 0:
        print("no browser found: installing Debian's chromium with apt-get", flush=True)
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"], env=env, check=True)
    else:
        print("no browser found: fetching Playwright's chromium", flush=True)
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)


def main() -> int:
    if find() is None:
        try:
            get()
        except subprocess.CalledProcessError as error:
            print(f"could not get a browser ({error}); install chromium and run again", file=sys.stderr)
    found = find()
    if found is None:
        print("no browser: the browser tests cannot run; install chromium and run again", file=sys.stderr)
        return 1
    print(f"browser: {found}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
