"""Which agent the settings name."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from agui_app.agents.base import AgentInput
from agui_app.agents.build import build_agent
from agui_app.agents.rules.agent import RulesAgent
from agui_app.errors import SettingsError
from agui_app.protocol.events import Event, RunErrorEvent
from agui_app.settings import Settings
from tests.agents.house import events, round_of

HERE = "tests.agents.test_build"


class Silent:
    async def run(self, input: AgentInput) -> AsyncIterator[Event]:
        yield RunErrorEvent(message="silent")


silent = Silent()


def make_silent() -> Silent:
    return silent


no_agent = 5


def settings(agent: str) -> Settings:
    return Settings(agent=agent, rules_token_delay_s=0)  # pyright: ignore[reportCallIssue]


def test_the_rule_agent_needs_no_path():
    assert isinstance(build_agent(settings("rules")), RulesAgent)


@pytest.mark.parametrize("name", ["silent", "Silent", "make_silent"])
async def test_an_agent_a_class_or_a_factory_is_found_by_its_path(name: str):
    agent = build_agent(settings(f"{HERE}:{name}"))

    assert await events(agent, round_of()) == [RunErrorEvent(message="silent")]


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        ("llama", "an agent is 'rules' or `module:name`"),
        (":name", "an agent is 'rules' or `module:name`"),
        ("no_such_module:agent", "ModuleNotFoundError: No module named 'no_such_module'"),
        (f"{HERE}:missing", f"AttributeError: module '{HERE}' has no attribute 'missing'"),
        (f"{HERE}:no_agent", "TypeError: 'int' object is not callable"),
        (f"{HERE}:settings", "TypeError: settings() missing 1 required positional argument: 'agent'"),
        ("builtins:dict", "it has no method `run`"),
    ],
)
def test_a_path_that_leads_to_no_agent_is_a_setting_error(agent: str, reason: str):
    with pytest.raises(SettingsError) as caught:
        build_agent(settings(agent))

    assert caught.value.detail == f"AGUI_AGENT={agent!r}: {reason}"
