"""Rules that every file of the project keeps."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
MAX_LINES = 400
TEXT = {".py", ".md", ".toml", ".lock", ".json", ".css", ".js", ".mako", ".ini", ".yml", ".yaml", ".txt", ""}

# Written in two halves, so that this file keeps its own rules.
REGISTRIES = ("registry." + "npmjs", "pypi" + ".org", "files." + "pythonhosted", "deb." + "debian")
MACHINES = ("/wo" + "rk/", "/tmp" + "/w/", "/ro" + "ot/")
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b")


def files() -> list[Path]:
    """Every file of the project that is, or would be, committed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PROJECT,
        capture_output=True,
        check=True,
    ).stdout.decode()
    return [path for name in listed.split("\0") if name and (path := PROJECT / name).is_file()]


def texts() -> list[tuple[str, str]]:
    """Name and text of every text file, the golden cases of `tests/vectors` aside."""
    return [
        (str(path.relative_to(PROJECT)), path.read_text(encoding="utf-8"))
        for path in files()
        if path.suffix in TEXT and "vectors" not in path.parts
    ]


def test_no_file_of_the_program_is_longer_than_one_can_keep_in_mind() -> None:
    long = {
        name: text.count("\n")
        for name, text in texts()
        if name.startswith(("agui_app/", "alembic/")) and text.count("\n") > MAX_LINES
    }

    assert long == {}


@pytest.mark.parametrize("needle", [*REGISTRIES, *MACHINES])
def test_no_file_names_a_registry_or_a_folder_of_somebodys_machine(needle: str) -> None:
    assert [name for name, text in texts() if needle in text] == []


def test_nothing_is_left_for_later() -> None:
    assert [name for name, text in texts() if name.endswith(".py") and UNFINISHED.search(text)] == []


def test_the_lock_of_the_page_holds_versions_and_digests_and_no_addresses() -> None:
    text = (PROJECT / "reflex.lock" / "package-lock.json").read_text(encoding="utf-8")

    packages = {name: entry for name, entry in json.loads(text)["packages"].items() if name}
    assert [line for line in text.splitlines() if "://" in line] == []  # npm works without `resolved` and `funding`
    assert [name for name, entry in packages.items() if "integrity" not in entry] == []


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock"])
def test_every_python_package_is_pinned_with_digests_and_without_addresses(name: str) -> None:
    text = (PROJECT / name).read_text(encoding="utf-8")
    entries = [entry for entry in re.split(r"\n(?=\S)", text) if not entry.startswith("#")]

    assert [entry for entry in entries if not re.match(r"[a-z0-9._-]+(\[[a-z0-9,-]+\])?==\S+", entry)] == []
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in text
