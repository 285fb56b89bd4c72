"""The server's parts, opened and closed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agui_app.errors import SettingsError
from agui_app.services import Overrides, open_services
from agui_app.settings import Settings
from agui_app.tools.catalog import TOOLS


async def test_a_fresh_folder_is_ready_to_answer(settings: Settings) -> None:
    async with open_services(settings) as services:
        await services.database.check()
        await services.objects.check()
        assert services.tools is TOOLS
        assert (await services.history.page("local", None, None, 50))["threadId"] is None
        assert (await services.threads.list_threads("local", None, 50))["threads"] == []
        assert services.clock().utcoffset() is not None
    assert sorted(path.name for path in settings.data_dir.iterdir()) == ["agui.db", "payloads"]


async def test_the_rule_agent_answers_by_default(settings: Settings) -> None:
    async with open_services(settings.model_copy(update={"rules_token_delay_s": 0.0})) as services:
        body = {
            "threadId": "t",
            "runId": "r",
            "messages": [{"id": "u", "role": "user", "content": "明天上午10点提醒我开会"}],
        }
        await services.runs.start("local", body)
        async with asyncio.timeout(20):
            async for frame in services.events.follow("local", "t", after=None, run_id="r"):
                assert frame is not None
        page = await services.history.page("local", "t", None, 50)
        assert [run["status"] for run in page["runs"]] == ["finished"]
        [answer] = [message for message in page["messages"] if message["role"] == "tool"]
        assert answer["ui"]["cardType"] == "calendar_card.v1"


async def test_nothing_is_left_running(settings: Settings) -> None:
    before = asyncio.all_tasks()
    async with open_services(settings):
        pass
    assert asyncio.all_tasks() == before


async def test_an_exception_of_the_block_comes_out_as_it_is(settings: Settings) -> None:
    async def fail() -> None:
        async with open_services(settings):
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await fail()


async def test_a_data_folder_that_cannot_be_made_stops_the_start(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SettingsError, match=r"AGUI_DATA_DIR=.*cannot be made"):
        async with open_services(settings.model_copy(update={"data_dir": tmp_path / "file" / "data"})):
            pass


async def test_a_payload_folder_that_cannot_be_written_stops_the_start(settings: Settings) -> None:
    settings.data_dir.mkdir()
    settings.payload_dir.write_text("in the way")
    with pytest.raises(SettingsError, match=r"AGUI_DATA_DIR=.*payload folder cannot be written"):
        async with open_services(settings, Overrides()):
            pass
