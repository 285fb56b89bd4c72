from __future__ import annotations

from typing import Any

import pytest

from agui_app.protocol.cards import (
    CARD_MODELS,
    CalendarCard,
    CalendarList,
    CardAction,
    CardReading,
    ErrorCard,
    UserCandidate,
    UserCard,
    error_card,
    make_card,
    read_card,
)

EVENT = {"id": "evt_1", "title": "评审", "startAt": "2026-03-01T10:00:00+08:00"}
MODEL = CalendarCard(id="evt_1", title="评审", start_at="2026-03-01T10:00:00+08:00")


def test_the_card_types_that_are_built_in():
    assert {
        "calendar_card.v1": CalendarCard,
        "calendar_list.v1": CalendarList,
        "user_card.v1": UserCard,
        "error_card.v1": ErrorCard,
    } == CARD_MODELS


def test_a_card_is_read_with_its_data_and_its_actions():
    ui = make_card("calendar_card.v1", EVENT, [{"type": "open", "label": "打开", "target": "calendar/evt_1"}])
    actions = (CardAction(type="open", label="打开", target="calendar/evt_1"),)
    assert read_card(ui) == CardReading("calendar_card.v1", False, MODEL, actions)


@pytest.mark.parametrize(
    ("card_type", "data", "model"),
    [
        ("calendar_list.v1", {"events": [EVENT], "range": "r"}, CalendarList(events=[MODEL], range="r")),
        (
            "user_card.v1",
            {"id": "u", "name": "A", "candidates": [{"id": "v", "name": "B"}]},
            UserCard(id="u", name="A", candidates=[UserCandidate(id="v", name="B")]),
        ),
        ("error_card.v1", {"message": "no", "toolName": "f"}, ErrorCard(message="no", tool_name="f")),
        ("calendar_card.v1", {**EVENT, "later": 1}, MODEL),
    ],
)
def test_data_is_read_by_the_model_of_its_type(card_type: str, data: Any, model: Any):
    assert read_card(make_card(card_type, data)) == CardReading(card_type, False, model)


@pytest.mark.parametrize(
    ("ui", "card_type"),
    [
        (make_card("weather_card.v7", {"t": 21}), "weather_card.v7"),
        (make_card("calendar_card.v1", {"title": None, "startAt": 7}), "calendar_card.v1"),
        (make_card("calendar_card.v1", None), "calendar_card.v1"),
        ({**make_card("calendar_card.v1", EVENT), "actions": "no"}, "calendar_card.v1"),
        (make_card("calendar_card.v1", EVENT, [{"type": "explode", "label": "x"}]), "calendar_card.v1"),
        (make_card("calendar_card.v1", EVENT, [{"type": "open"}]), "calendar_card.v1"),
        ({**make_card("calendar_card.v1", EVENT), "type": "chart"}, "calendar_card.v1"),
        ({"type": "card", "cardType": 7}, None),
        ({"k": 1}, None),
        ("card", None),
        (None, None),
    ],
)
def test_what_is_no_sound_card_is_drawn_by_the_fallback(ui: object, card_type: str | None):
    assert read_card(ui) == CardReading(card_type, fallback=True)


@pytest.mark.parametrize("actions", [None, []])
def test_a_card_needs_no_actions(actions: object):
    assert not read_card({**make_card("calendar_card.v1", EVENT), "actions": actions}).fallback


def test_an_error_card_leaves_out_what_is_not_known():
    assert error_card("no") == make_card("error_card.v1", {"message": "no"})
    assert error_card("no", code="timeout", tool_name="f") == make_card(
        "error_card.v1", {"message": "no", "code": "timeout", "toolName": "f"}
    )
