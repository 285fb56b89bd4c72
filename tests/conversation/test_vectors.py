"""Every written stream makes its rows: live, through history, cut into pages, and resumed anywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agui_app.conversation.history import from_page
from agui_app.conversation.items import rows
from agui_app.conversation.model import STAGES, Conversation, RunFailure
from agui_app.conversation.reducer import fold
from agui_app.protocol.events import dump_event, parse_event
from tests.conversation.streams import RECORDINGS, STREAMS, as_page, matching, normalised, recorded, through_history


def vector(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", STREAMS, ids=name_of)
def test_a_stream_makes_its_rows_and_its_run(path: Path):
    expected = vector(path)
    conversation = fold(Conversation(), normalised(expected["events"]))
    items, run = rows(conversation), conversation.runs[-1]
    states = {step.name: step.state for step in run.steps}
    error = expected.get("runError")
    assert [matching(item, wanted) for item, wanted in zip(items, expected["items"], strict=True)] == expected["items"]
    assert run.status == expected["run"]
    assert error is None or run.error == RunFailure(**error)
    assert {stage: states.get(stage, "pending") for stage in STAGES} == expected.get(
        "steps", dict.fromkeys(STAGES, "pending")
    )


@pytest.mark.parametrize("path", RECORDINGS, ids=name_of)
def test_a_recording_makes_its_rows_and_its_runs(path: Path):
    expected = vector(path.parent.parent / "recordings_expected" / f"{path.stem}.json")
    conversation = fold(Conversation(), recorded(path))
    items = rows(conversation)
    assert [matching(item, wanted) for item, wanted in zip(items, expected["items"], strict=True)] == expected["items"]
    page_runs = as_page(conversation)["runs"]
    runs = [
        {
            "status": run["status"],
            **({"error": run["error"]} if "error" in run else {}),
            "steps": {step["name"]: step["state"] for step in run["steps"]},
        }
        for run in page_runs
    ]
    assert runs == expected["runs"]


def events_of(path: Path):
    return recorded(path) if path.suffix == ".sse" else normalised(vector(path)["events"])


@pytest.mark.parametrize("path", [*STREAMS, *RECORDINGS], ids=name_of)
def test_the_log_keeps_every_event(path: Path):
    events = events_of(path)
    assert [parse_event(dump_event(event)) for event in events] == events


@pytest.mark.parametrize("path", [*STREAMS, *RECORDINGS], ids=name_of)
def test_history_makes_the_same_rows_and_runs(path: Path):
    live = fold(Conversation(), events_of(path))
    loaded = through_history(live)
    assert (rows(loaded), loaded.runs) == (rows(live), live.runs)


@pytest.mark.parametrize("path", [*STREAMS, *RECORDINGS], ids=name_of)
def test_a_resume_at_every_position_makes_the_same_rows_and_runs(path: Path):
    events = events_of(path)
    whole = fold(Conversation(), events)
    for position in range(len(events) + 1):
        resumed = fold(through_history(fold(Conversation(), events[:position])), events[position:])
        assert (position, rows(resumed), resumed.runs) == (position, rows(whole), whole.runs)


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("path", [*STREAMS, *RECORDINGS], ids=name_of)
def test_any_page_renders_by_itself(path: Path, limit: int):
    conversation = fold(Conversation(), events_of(path))
    page = as_page(conversation)
    messages = page["messages"]
    pages = [
        from_page({**page, "messages": messages[start : start + limit]}) for start in range(0, len(messages), limit)
    ]
    assert tuple(item for part in pages for item in rows(part)) == rows(conversation)
