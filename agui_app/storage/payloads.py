"""The full results of tool calls, in the object store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Iterable, Mapping
from typing import Any
from uuid import uuid4

from agui_app.conversation.model import Json, Message
from agui_app.storage.objects import ObjectStore

READ_BOUND_S = 1.0  # contract: a slow payload never holds a page longer
PUT_BOUND_S = 5.0  # a store slower than this is away; the payload waits in the database
PARALLEL_READS = 16

_log = logging.getLogger(__name__)


def new_path() -> str:
    """A path that nothing else has; made by the server, of nothing that a client sent."""
    name = uuid4().hex
    return f"tool_result/{name[:2]}/{name}.json"


def tool_payload(message: Message, thread_id: str, started_at: str | None) -> dict[str, Json]:
    """The payload of a tool message. `message.tool` must be there."""
    tool = message.tool
    assert tool is not None
    return {
        "schema": "tool_result",
        "version": "v1",
        "callId": tool.call_id,
        "toolName": tool.tool_name,
        "runId": message.run_id,
        "threadId": thread_id,
        "stage": tool.stage,
        "taskId": tool.task_id,
        "args": tool.args,
        "result": tool.result,
        "error": tool.error,
        "ui": tool.ui,
        "content": tool.content,
        "startedAt": started_at,
        "finishedAt": message.created_at,
    }


async def put_payload(objects: ObjectStore, path: str, payload: Mapping[str, Json]) -> bool:
    """Whether the payload is stored. A store that fails is logged, and stops nothing."""
    return await _done(objects.put_json(path, dict(payload)), "stored", path)


async def delete_payload(objects: ObjectStore, path: str) -> bool:
    """Whether the payload is gone. A store that fails is logged, and stops nothing."""
    return await _done(objects.delete(path), "deleted", path)


async def _done(work: Awaitable[None], what: str, path: str) -> bool:
    try:
        async with asyncio.timeout(PUT_BOUND_S):
            await work
    except Exception as error:  # whatever a store raises: the payload waits
        _log.warning("payload %s was not %s: %s", path, what, error)
        return False
    return True


async def read_payloads(objects: ObjectStore, paths: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Path -> payload, of those that could be read within READ_BOUND_S."""
    found: dict[str, dict[str, Any]] = {}
    turn = asyncio.Semaphore(PARALLEL_READS)

    async def read(path: str) -> None:
        try:
            async with turn:
                found[path] = await objects.get_json(path)
        except Exception as error:  # whatever a store raises: the page goes without it
            _log.warning("payload %s was not read: %s", path, error)

    try:
        async with asyncio.timeout(READ_BOUND_S), asyncio.TaskGroup() as group:
            for path in set(paths):
                group.create_task(read(path))
    except TimeoutError:
        _log.warning("payloads took longer than %s s; the page goes without some", READ_BOUND_S)
    return found
