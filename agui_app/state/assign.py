"""Assigning the vars of a state."""

from __future__ import annotations

from typing import Any

import reflex as rx


def assign(state: rx.State, **values: Any) -> None:
    """Assign what differs: an equal value would be sent to the browser again."""
    for name, value in values.items():
        if getattr(state, name) != value:
            setattr(state, name, value)
