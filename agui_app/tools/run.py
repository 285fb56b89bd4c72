"""One call carried out: found, read, checked, run, bounded in time."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from agui_app.errors import ToolError
from agui_app.tools.registry import Registry, ToolContext, ToolOutcome
from agui_app.tools.validation import checked_arguments, read_arguments

logger = logging.getLogger(__name__)


async def carry_out(
    registry: Registry, context: ToolContext, name: str, args_text: str, timeout_s: float
) -> ToolOutcome:
    """What the tool's handler gave back for the arguments in `args_text` (JSON as the agent wrote it).

    Raises: ToolError: unknown_tool, invalid_json, invalid_arguments, timeout, or failed. Its message can be shown:
    it names the tool, the argument and the rule, never what an exception of somebody else says.
    """
    tool = registry.get(name)
    if tool is None:
        known = ", ".join(sorted(registry)) or "none"
        raise ToolError(f"there is no tool {name!r}; known tools: {known}", tool_code="unknown_tool")
    args = checked_arguments(tool.parameters, read_arguments(args_text))
    limit = asyncio.timeout(timeout_s)
    try:
        async with limit:
            return await tool.handler(context, args)
    except ToolError:
        raise
    except Exception as error:
        if limit.expired():
            raise ToolError(f"{name} gave no answer within {timeout_s:g} s", tool_code="timeout") from error
        logger.exception("tool %s failed in run %s", name, context.run_id)
        raise ToolError(f"{name} failed with {type(error).__name__}", tool_code="failed") from error


def error_card(message: str, code: str | None, tool_name: str) -> dict[str, Any]:
    """The card of a call that was not carried out."""
    data = {"message": message, "code": code, "toolName": tool_name}
    return {
        "type": "card",
        "cardType": "error_card.v1",
        "data": {key: value for key, value in data.items() if value},
        "actions": [],
    }
