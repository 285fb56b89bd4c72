"""What the reader prefers: the language."""

from __future__ import annotations

import reflex as rx


class Preferences(rx.State):
    """Follows the browser."""

    locale: str = "en"
    """`en` or `zh`; drawn by every text of the page."""

    @rx.event
    def detect(self) -> None:
        """Take the language that the browser asks for first."""
        first = self.router.headers.accept_language.split(",")[0].strip().lower()
        locale = "zh" if first.startswith("zh") else "en"
        if self.locale != locale:
            self.locale = locale
