"""Streams as hypothesis makes them: sound ones, disordered ones, and things that are no events at all."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Obj = dict[str, Any]

IDS = st.sampled_from(["a", "b", "c", "r1.a"])
DELTAS = st.sampled_from(
    ["", "x", "你好", "🌍", '{"v":', "1}", "{}", "\u2028", "\ud83d", "\ude00", "\x00", '"\\ud83d"']
)
STEPS = st.sampled_from(["intent", "execution", "other"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=8,
)
CONTENTS = (
    st.sampled_from(["ok", "", "0", '{"a": 1}', "two\nlines"])
    | JSON
    | st.just([{"type": "text", "text": "t"}, {"type": "odd"}])
)
METADATA = st.sampled_from(
    [{}, {"metadata": {"agui-app": {"interrupted": True}}}, {"metadata": {"k": 1}}, {"metadata": None}]
)
PATCHES = st.lists(
    st.fixed_dictionaries(
        {
            "op": st.sampled_from(["add", "replace", "remove", "test"]),
            "path": st.sampled_from(["/a", "/a/b", "/a~1b", "", "/__proto__/x", "/l/-", "/l/0", "nope"]),
            "value": st.integers(0, 3) | st.just([]),
        }
    ),
    max_size=3,
)


def _event(type: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Obj]:
    made = st.fixed_dictionaries({"type": st.just(type), **fields})
    return st.builds(lambda event, extra: {**event, **extra}, made, METADATA)


def _message(role: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Obj]:
    return st.fixed_dictionaries({"id": IDS, "role": st.just(role), **fields})


CALLS = st.lists(
    st.builds(lambda id: {"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}, IDS), max_size=2
)
MESSAGES = st.lists(
    st.one_of(
        _message("user", content=st.sampled_from(["hi", ""]) | st.just([{"type": "text", "text": "t"}])),
        _message("assistant", content=st.sampled_from(["hello", "", None]), toolCalls=CALLS | st.none()),
        _message("tool", content=CONTENTS, toolCallId=IDS),
        _message("reasoning", content=st.just("why")),
        _message("activity", content=st.just({"a": 1}), activityType=st.just("PLAN")),
        _message("narrator", content=st.just("?")),
        JSON,
    ),
    max_size=4,
)
OUTCOMES = st.none() | st.sampled_from(
    [
        {"type": "success"},
        {"type": "success", "pendingToolCallIds": ["a"]},
        {"type": "cancelled"},
        {"type": "interrupt", "interrupts": [{"id": "i", "reason": "confirm", "toolCallId": "b"}]},
        {"type": "odd"},
    ]
)

PARTS = st.one_of(
    _event(
        "TEXT_MESSAGE_START", messageId=IDS, role=st.sampled_from(["assistant", "user", "system", "narrator", None])
    ),
    _event("TEXT_MESSAGE_CONTENT", messageId=IDS, delta=DELTAS),
    _event("TEXT_MESSAGE_CONTENT", messageId=IDS, delta=DELTAS),
    _event("TEXT_MESSAGE_END", messageId=IDS),
    _event("REASONING_START", messageId=IDS),
    _event("REASONING_END", messageId=IDS),
    _event("REASONING_MESSAGE_START", messageId=IDS, role=st.just("reasoning")),
    _event("REASONING_MESSAGE_CONTENT", messageId=IDS, delta=DELTAS),
    _event("REASONING_MESSAGE_END", messageId=IDS),
    _event(
        "REASONING_ENCRYPTED_VALUE",
        subtype=st.sampled_from(["message", "tool-call"]),
        entityId=IDS,
        encryptedValue=st.just("e"),
    ),
    _event("TOOL_CALL_START", toolCallId=IDS, toolCallName=st.just("f"), parentMessageId=IDS | st.none()),
    _event("TOOL_CALL_ARGS", toolCallId=IDS, delta=DELTAS),
    _event("TOOL_CALL_END", toolCallId=IDS),
    _event("TOOL_CALL_RESULT", messageId=IDS, toolCallId=IDS, content=CONTENTS),
    _event("TOOL_CALL_RESULT", toolCallId=IDS, result=JSON, ui=JSON, error=JSON),
    _event("TOOL_CALL_ERROR", toolCallId=IDS, error=JSON, code=st.sampled_from(["timeout", None])),
    _event("STEP_STARTED", stepName=STEPS),
    _event("STEP_FINISHED", stepName=STEPS),
    _event(
        "ACTIVITY_SNAPSHOT",
        messageId=IDS,
        activityType=st.sampled_from(["PLAN", "schedule"]),
        content=st.just({"l": []}),
        replace=st.booleans(),
    ),
    _event("ACTIVITY_DELTA", messageId=IDS, activityType=st.just("PLAN"), patch=PATCHES),
    _event("SUBAGENT_STARTED", subagentRunId=IDS, name=st.just("helper")),
    _event("SUBAGENT_FINISHED", subagentRunId=IDS),
    _event("SUBAGENT_ERROR", subagentRunId=IDS, message=st.just("no")),
    _event("MESSAGES_SNAPSHOT", messages=MESSAGES),
    _event("FUTURE_X", a=JSON),
)
CHUNKS = st.one_of(
    _event("TEXT_MESSAGE_CHUNK", messageId=IDS | st.none(), delta=DELTAS | st.none()),
    _event("REASONING_MESSAGE_CHUNK", messageId=IDS | st.none(), delta=DELTAS, subagentRunId=IDS | st.none()),
    _event("TOOL_CALL_CHUNK", toolCallId=IDS | st.none(), toolCallName=st.just("f") | st.none(), delta=DELTAS),
    _event("THINKING_START"),
    _event("THINKING_TEXT_MESSAGE_CONTENT", delta=DELTAS),
    _event("THINKING_END"),
)
_STARTS = _event(
    "RUN_STARTED",
    threadId=st.just("t1"),
    runId=st.sampled_from(["r1", "r2", "r3"]),
    input=st.none() | st.builds(lambda messages: {"messages": messages}, MESSAGES),
    timestamp=st.none() | st.sampled_from([1_772_280_000_000, "2026-02-28T12:00:00Z", "soon", 1.5]),
)
_REPLACES = st.dictionaries(st.sampled_from(["from", "after"]), IDS | st.none(), max_size=2) | JSON
STARTS = _STARTS | st.builds(
    lambda start, replaces: {**start, "metadata": {"agui-app": {"replaces": replaces}}}, _STARTS, _REPLACES
)
ENDS = st.one_of(
    _event("RUN_FINISHED", threadId=st.just("t1"), runId=st.sampled_from(["r1", "r2", "r3"]), outcome=OUTCOMES),
    _event("RUN_ERROR", message=st.just("no"), code=st.sampled_from(["x", "interrupted"])),
)

_STEP = st.one_of(PARTS, PARTS, PARTS, PARTS, CHUNKS, CHUNKS, STARTS, ENDS)

STREAMS = st.builds(
    lambda start, rest: [start, *rest],
    STARTS,
    st.integers(0, 25).flatmap(lambda size: st.lists(_STEP, min_size=size, max_size=size)),
)
"""Streams that begin with a run and then break every rule there is."""
