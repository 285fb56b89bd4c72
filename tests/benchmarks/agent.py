"""An agent that writes 100 tokens of four characters a second and notes when it wrote each."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

from agui_app.agents.base import AgentInput
from agui_app.protocol.events import Event
from tests.e2e.agents import event

TOKENS = 500
TOKENS_PER_S = 100
WRITTEN_FILE = "AGUI_BENCH_WRITTEN"
"""Environment variable: the file that gets the times of the newest run, a JSON list of seconds since the epoch."""


class SteadyAgent:
    """Writes `TOKENS` tokens, each at its time, however late the one before was."""

    async def run(self, input: AgentInput) -> AsyncIterator[Event]:
        message_id = f"{input.run_id}.answer"
        written: list[float] = []
        yield event("TEXT_MESSAGE_START", messageId=message_id, role="assistant")
        start = asyncio.get_running_loop().time()
        for index in range(TOKENS):
            await asyncio.sleep(max(0.0, start + index / TOKENS_PER_S - asyncio.get_running_loop().time()))
            written.append(time.time())
            yield event("TEXT_MESSAGE_CONTENT", messageId=message_id, delta=f"{index:03d} ")
        yield event("TEXT_MESSAGE_END", messageId=message_id)
        Path(os.environ[WRITTEN_FILE]).write_text(json.dumps(written))
