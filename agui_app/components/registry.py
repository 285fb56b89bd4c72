"""The card registry: card type -> component. Its model stands under the same name in `protocol/cards.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import reflex as rx

from agui_app.components.cards.calendar_card import calendar_card
from agui_app.components.cards.calendar_list import calendar_list
from agui_app.components.cards.error_card import error_card
from agui_app.components.cards.fallback import fallback_card
from agui_app.components.cards.user_card import user_card
from agui_app.components.fields import RowVar, flag, mapping, text

CARDS: Mapping[str, Callable[[RowVar], rx.Component]] = {
    "calendar_card.v1": calendar_card,
    "calendar_list.v1": calendar_list,
    "user_card.v1": user_card,
    "error_card.v1": error_card,
}


def card(row: RowVar) -> rx.Component:
    """The card of a row, by its type; the fallback for everything that cannot be drawn."""
    ui = mapping(row, "card")
    data = mapping(ui, "data")
    drawn = rx.match(
        text(row, "cardType"),
        *((card_type, component(data)) for card_type, component in CARDS.items()),
        fallback_card(ui, text(row, "cardType")),
    )
    return rx.el.div(
        rx.cond(flag(row, "fallback"), fallback_card(ui, text(row, "cardType")), drawn),
        custom_attrs={
            "data-card-type": text(row, "cardType"),
            "data-card-fallback": rx.cond(flag(row, "fallback"), "true", rx.Var("undefined")),
        },
        class_name=(
            "max-w-lg rounded-xl border border-zinc-200 dark:border-zinc-700 bg-white dark:bg-zinc-900 shadow-sm "
            "overflow-hidden"
        ),
    )
