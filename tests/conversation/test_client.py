"""What we make of a stream, beside what the official TypeScript client makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agui_app.conversation.messages import standard_messages
from agui_app.conversation.model import Conversation
from agui_app.conversation.reducer import fold
from tests.conversation.streams import RECORDINGS, VECTORS, normalised, recorded

Obj = dict[str, Any]

STREAMS: dict[str, list[Obj]] = json.loads((VECTORS / "streams_client.json").read_text(encoding="utf-8"))

DIFFERENCES = """
a call without parentMessageId   the client names its message like the call; ours has the run before it
an assistant message with calls  the client keeps an empty content; we leave out what says nothing
results of calls of one message  the client has them as they came; we as the calls began
a tool message                   the client keeps the card and the rest in metadata; we give them back to nobody.
                                 We add the error, for which the client has no word on the wire
NUL and halves of pairs          the client keeps them, so that stream is not compared
ends that we wrote               the client keeps our note in metadata; ours is the status
"""
"""Where we differ on purpose; `alike` makes the two sides equal in these points and no other."""


def alike(messages: list[Obj]) -> list[Obj]:
    turns: list[list[Obj]] = []
    for message in map(comparable, messages):
        if message["role"] == "tool" and turns:
            turns[-1].append(message)
        else:
            turns.append([message])
    return [message for turn in turns for message in (turn[0], *sorted(turn[1:], key=lambda tool: tool["toolCallId"]))]


def comparable(message: Obj) -> Obj:
    kept = {key: value for key, value in message.items() if key != "metadata" or message["role"] != "tool"}
    metadata = {key: value for key, value in kept.pop("metadata", {}).items() if key != "agui-app"}
    kept |= {"metadata": metadata} if metadata else {}
    if message["role"] == "tool":
        kept.pop("error", None)
    if message.get("toolCalls"):
        kept["toolCalls"] = [{**call, "metadata": None} for call in message["toolCalls"]]
        first = message["toolCalls"][0]["id"]
        kept["id"] = first if message["id"] == f"r1.{first}" else message["id"]
        kept["content"] = message.get("content") or None
    return kept


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_gives_the_messages_of_the_official_client(name: str):
    raws = json.loads((VECTORS / "streams" / f"{name}.json").read_text(encoding="utf-8"))["events"]
    ours, client = standard_messages(fold(Conversation(), normalised(raws))), STREAMS[name]
    assert alike(ours) == alike(client)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_a_recording_gives_the_messages_of_the_official_client(path: Path):
    expected = json.loads((VECTORS / "recordings_expected" / f"{path.stem}.json").read_text(encoding="utf-8"))
    ours = standard_messages(fold(Conversation(), recorded(path)))
    assert alike(ours) == alike(expected["client"])
