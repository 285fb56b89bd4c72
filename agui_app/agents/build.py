"""The agent that the settings name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from agui_app.agents.base import Agent
from agui_app.agents.rules.agent import RulesAgent
from agui_app.errors import SettingsError
from agui_app.settings import Settings

RULES = "rules"


def build_agent(settings: Settings) -> Agent:
    """The agent of `AGUI_AGENT`: `rules`, or `module:name` of an object with `run`, or of what gives one when called.

    Raises: SettingsError: there is no such thing, or it is no agent.
    """
    name = settings.agent
    if name == RULES:
        return RulesAgent(settings.rules_token_delay_s)
    return _imported(name)


def _imported(name: str) -> Agent:
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise _bad(name, f"an agent is {RULES!r} or `module:name`")
    try:
        found: Any = getattr(import_module(module_name), attribute)
        agent: Any = found if _is_agent(found) else cast("Callable[[], Any]", found)()
    except Exception as error:  # whatever the module does when it is imported
        raise _bad(name, f"{type(error).__name__}: {error}") from error
    if not _is_agent(agent):
        raise _bad(name, "it has no method `run`")
    return cast("Agent", agent)


def _is_agent(value: object) -> bool:
    return not isinstance(value, type) and callable(getattr(value, "run", None))


def _bad(name: str, reason: str) -> SettingsError:
    return SettingsError(f"AGUI_AGENT={name!r}: {reason}")
