"""Every tool there is."""

from __future__ import annotations

from types import MappingProxyType

from agui_app.tools.calendar import CALENDAR_READ, CREATE_CALENDAR_EVENT
from agui_app.tools.registry import Registry

TOOLS: Registry = MappingProxyType({tool.name: tool for tool in (CREATE_CALENDAR_EVENT, CALENDAR_READ)})
"""Name -> tool, in the order in which they are offered."""
