"""The UI schema: cards that a tool result shows. A new card type is one model and one line in CARD_MODELS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

Json: TypeAlias = Any

CARD = "card"
ERROR_CARD = "error_card.v1"
CALENDAR_CARD = "calendar_card.v1"


class CardModel(BaseModel):
    """Read strictly, with unknown keys left alone: a newer server may send more."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, strict=True, frozen=True)


class CardAction(CardModel):
    type: Literal["open", "edit", "delete"]
    label: str
    target: str | None = None
    """Where `open` leads. Comes from an agent: not trusted."""
    action: str | None = None
    style: str | None = None


class CalendarCard(CardModel):
    """`calendar_card.v1`: one event as it was when the card was made."""

    id: str
    title: str
    description: str | None = None
    start_at: str
    """RFC 3339 with an offset, or a date when `all_day`. Comes from an agent: may be any text."""
    end_at: str | None = None
    all_day: bool | None = None
    timezone: str | None = None
    """IANA name of the event's zone."""
    location: str | None = None
    color: str | None = None
    source_type: str | None = None


class CalendarList(CardModel):
    """`calendar_list.v1`: what a search of the calendar found."""

    title: str | None = None
    range: str | None = None
    events: list[CalendarCard]


class UserCandidate(CardModel):
    id: str
    name: str
    email: str | None = None


class UserCard(UserCandidate):
    """`user_card.v1`: a person, or the people who may be meant."""

    candidates: list[UserCandidate] | None = None


class ErrorCard(CardModel):
    """`error_card.v1`: why a call was not carried out."""

    message: str
    code: str | None = None
    tool_name: str | None = None


CARD_MODELS: Mapping[str, type[BaseModel]] = MappingProxyType(
    {CALENDAR_CARD: CalendarCard, "calendar_list.v1": CalendarList, "user_card.v1": UserCard, ERROR_CARD: ErrorCard}
)
"""Card type -> the model of its data."""


class Card(CardModel):
    """The envelope of every card."""

    type: Literal["card"]
    card_type: str
    data: Any
    actions: list[CardAction] | None = Field(default=None)


@dataclass(frozen=True, slots=True)
class CardReading:
    """What could be made of a `ui`."""

    card_type: str | None
    fallback: bool
    """Whether the fallback card draws it: no card, an unknown type, or data or actions that fail their model."""
    data: BaseModel | None = None
    """The model of the type; None with `fallback`."""
    actions: tuple[CardAction, ...] = ()


def read_card(ui: object) -> CardReading:
    """The card in `ui`; never raises."""
    named = cast(dict[str, object], ui).get("cardType") if isinstance(ui, dict) else None
    card_type = named if isinstance(named, str) else None
    model = CARD_MODELS.get(card_type or "")
    if model is None:
        return CardReading(card_type, fallback=True)
    try:
        card = Card.model_validate(ui)
        data = model.model_validate(card.data)
    except ValidationError:
        return CardReading(card_type, fallback=True)
    return CardReading(card_type, False, data, tuple(card.actions or ()))


def make_card(card_type: str, data: Json, actions: list[Json] | None = None) -> dict[str, Json]:
    """A `ui` that shows `data`."""
    return {"type": CARD, "cardType": card_type, "data": data, "actions": actions or []}


def error_card(message: str, *, code: str | None = None, tool_name: str | None = None) -> dict[str, Json]:
    """The card of a call that was not carried out."""
    given = {"message": message, "code": code, "toolName": tool_name}
    return make_card(ERROR_CARD, {key: value for key, value in given.items() if value is not None})
