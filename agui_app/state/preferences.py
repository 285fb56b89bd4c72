"""What the page has to know of its reader and of its server: the language, where the API is."""

from __future__ import annotations

import reflex as rx

from agui_app.settings import settings


class Preferences(rx.State):
    """Follows the browser."""

    locale: str = "en"
    """`en` or `zh`; drawn by every text of the page."""

    api: str = ""
    """Where the browser posts messages; empty: to the page's own server. Read by the composer."""

    @rx.event
    def detect(self) -> None:
        """Take the language that the browser asks for first, and the address of the API."""
        first = self.router.headers.accept_language.split(",")[0].strip().lower()
        locale = "zh" if first.startswith("zh") else "en"
        if self.locale != locale:
            self.locale = locale
        if self.api != settings().api_url:
            self.api = settings().api_url
