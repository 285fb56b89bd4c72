"""Whatever an agent does, its run ends closed, and what is stored is what was logged."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agui_app.agents.base import AgentInput
from agui_app.conversation.history import from_page
from agui_app.conversation.model import CallStatus, Conversation, MessageStatus, RunStatus, StepState
from agui_app.conversation.reducer import fold
from agui_app.protocol.events import Event, UnknownEvent, event_type, read_event
from agui_app.protocol.order import Order
from agui_app.services import Overrides, open_services
from agui_app.settings import Settings
from agui_app.storage.events import Frame
from tests.conversation.strategies import CHUNKS, ENDS, JSON, PARTS, STARTS
from tests.runs.house import ECHO_SCHEMA, House, Obj, body, call, echo, refuse, tool, user
from tests.runs.test_parity import pages_back, seen

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "100"))
SEED = int(os.environ.get("FUZZ_SEED", "1"))
HANG_S = 30  # more than a run of a few events ever takes

DEEP: Any = "x"
for _ in range(300):
    DEEP = [DEEP]


class Hostile:
    """A value whose own methods raise."""

    def __str__(self) -> str:
        raise RuntimeError("no")


ODD = st.sampled_from(
    [
        *(10**400, -(2**63), float("nan"), float("inf"), "\x00", "\ud83d", "\ude00x\ud83d", "x" * 300, "", True, None),
        *(DEEP, {"a": DEEP}, {1: 2}, b"bytes", (1, 2), object(), Hostile(), {"type": "text"}, [None]),
    ]
)


@st.composite
def mutilated(draw: Any) -> Any:
    """An event with a member that is odd, gone, or there twice under two names."""
    event: Obj = dict(draw(PARTS | CHUNKS | ENDS))
    member = draw(st.sampled_from(sorted(event)))
    match draw(st.integers(0, 3)):
        case 0:
            event[member] = draw(ODD)
        case 1:
            del event[member]
        case 2:
            event["".join(f"_{c.lower()}" if c.isupper() else c for c in member)] = draw(ODD)
        case _:
            event[draw(st.sampled_from(["timestamp", "metadata", "subagentRunId", "rawEvent", "x"]))] = draw(ODD)
    return event


CALLED = st.builds(
    lambda name, args, id, kept: call(name, args, id=id)[:kept],
    st.sampled_from(["echo", "refuse", "nobody", ""]),
    st.sampled_from(['{"say": "hi"}', '{"say": "\\ud83d"}', "{", "[]", "null", "", '{"say": NaN}', "1e999"]),
    st.sampled_from(["a", "b", "k"]),
    st.integers(1, 3),
)
SAID = st.one_of(
    *(PARTS.map(lambda event: [event]),) * 4,
    CHUNKS.map(lambda event: [event]),
    CALLED,
    PARTS.map(lambda event: [event, event]),
    mutilated().map(lambda event: [event]),
    (STARTS | ENDS).map(lambda event: [event]),
    (JSON | ODD).map(lambda value: [value]),
)
EVENTS = (
    st.integers(0, 20)  # a list of hypothesis' own choice is too short for anything to meet anything
    .flatmap(lambda size: st.lists(SAID, min_size=size, max_size=size))
    .map(lambda said: list(itertools.chain.from_iterable(said)))
)
ENDINGS = st.sampled_from(["return", "return", "return", "raise", "cancelled", "hang", "refuse", "no iterator"])


@dataclass(frozen=True)
class Script:
    """One round: what is said, in any order, and how the agent stops."""

    events: list[Any]
    ending: str


ROUNDS = st.lists(
    st.builds(Script, st.one_of(EVENTS, EVENTS, EVENTS.flatmap(st.permutations)), ENDINGS), min_size=1, max_size=3
)


class Actor:
    """An agent that plays the scripts of the run that is asked for."""

    def __init__(self) -> None:
        self.scripts: dict[str, Iterator[Script]] = {}
        self.hanging = asyncio.Event()

    def run(self, input: AgentInput) -> Any:
        script = next(self.scripts[input.run_id], Script([], "return"))
        if script.ending == "no iterator":
            return None
        return self._play(script)

    async def _play(self, script: Script) -> AsyncIterator[Any]:
        for event in script.events:
            yield event
        match script.ending:
            case "raise":
                raise RuntimeError("no")
            case "cancelled":
                raise asyncio.CancelledError
            case "hang":
                self.hanging.set()
                await asyncio.Event().wait()
            case "refuse":
                try:
                    yield {"type": "RUN_FINISHED"}
                finally:
                    raise LookupError("it does not close well")
            case _:
                return


class Stage:
    """Open services on a loop of their own, which all examples share; each has a thread of its own."""

    def __init__(self, settings: Settings) -> None:
        self._runner = asyncio.Runner()
        self._threads = itertools.count()
        tools = {"echo": tool("echo", echo, ECHO_SCHEMA), "refuse": tool("refuse", refuse)}
        self.actor = Actor()
        self._services = open_services(settings, Overrides(agent=self.actor, tools=tools))
        self.house = House(self._runner.run(self._services.__aenter__()), self.actor)

    def close(self) -> None:
        self._runner.run(self._services.__aexit__(None, None, None))
        self._runner.close()

    def play(self, runs: list[list[Script]]) -> None:
        self._runner.run(self._play(f"t{next(self._threads)}", runs))

    async def _play(self, thread: str, runs: list[list[Script]]) -> None:
        for number, rounds in enumerate(runs):
            run = f"{thread}.r{number}"
            self.actor.scripts[run] = iter(rounds)
            self.actor.hanging.clear()
            await self.house.start(body(user(id=f"{run}.u"), thread=thread, run=run))
            watching = asyncio.create_task(self._stop_when_hanging(thread))
            async with asyncio.timeout(HANG_S):
                log = await self.logged(thread, run)
            watching.cancel()
            check_log(log, run)
        await self.check_pages(thread, [f"{thread}.r{number}" for number in range(len(runs))])

    async def _stop_when_hanging(self, thread: str) -> None:
        await self.actor.hanging.wait()
        await self.house.services.runs.cancel("local", thread, None)

    async def logged(self, thread: str, run: str | None) -> list[Obj]:
        reading = self.house.services.events.follow("local", thread, after=None, run_id=run)
        return [json.loads(frame.data) async for frame in reading if isinstance(frame, Frame)]

    async def check_pages(self, thread: str, runs: list[str]) -> None:
        log = [read_event(event) for run in runs for event in await self.logged(thread, run)]
        folded = fold(Conversation(), log)
        page = await self.house.page(thread, limit=200)
        assert (page["activeRunId"], page["hasMore"]) == (None, False)
        assert seen(from_page(page)) == seen(folded)
        for limit in (1, 2, 3):
            assert seen(await self.pages(thread, limit)) == seen(folded)
        [stored] = [one for one in await self.house.threads() if one["id"] == thread]
        found = [row for row in await self.house.runs() if row["thread_pk"] == stored["pk"]]
        assert [row["id"] for row in found] == runs
        assert RunStatus.RUNNING not in [row["status"] for row in found]

    async def pages(self, thread: str, limit: int) -> Conversation:
        return await pages_back(self.house, limit, thread)


def check_log(log: list[Obj], run: str) -> None:
    """One start, one terminal event, both of this run; what was started was ended before it."""
    kinds = [event["type"] for event in log]
    assert (kinds[0], log[0]["runId"]) == ("RUN_STARTED", run)
    assert kinds.count("RUN_STARTED") == 1
    assert kinds[-1] in ("RUN_FINISHED", "RUN_ERROR")
    assert log[-1].get("runId", run) == run
    known = [read_event(event) for event in log]
    assert sum(is_terminal(event) for event in known) == 1
    assert left_open(known) == set(), "\n".join(json.dumps(event) for event in log)
    after = fold(Conversation(), known)
    assert after.active_run_id is None
    mine = [message for message in after.messages if message.run_id == run]
    assert [message for message in mine if message.status is MessageStatus.STREAMING] == []
    assert [step for one in after.runs for step in one.steps if step.state is StepState.ACTIVE] == []
    assert [message.id for message in mine if message.call and message.call.status is CallStatus.EXECUTING] == []
    assert after.open_reasoning == ()
    order = Order()
    assert [verdict.violation for event in known if (verdict := order.check(event)).event is None] == []


PARTS_OF_A_RUN = {
    "TEXT_MESSAGE_START": ("message_id", {"TEXT_MESSAGE_END"}),
    "REASONING_MESSAGE_START": ("message_id", {"REASONING_MESSAGE_END"}),
    "REASONING_START": ("message_id", {"REASONING_END"}),
    "TOOL_CALL_START": ("tool_call_id", {"TOOL_CALL_END"}),
    "STEP_STARTED": ("step_name", {"STEP_FINISHED"}),
    "SUBAGENT_STARTED": ("subagent_run_id", {"SUBAGENT_FINISHED", "SUBAGENT_ERROR"}),
}
"""What begins a part -> the name of its id, what ends it."""


def left_open(log: list[Event]) -> set[tuple[str, str]]:
    """The parts that began and did not end before the last event."""
    opened: set[tuple[str, str]] = set()
    for event in log[:-1]:
        if isinstance(event, UnknownEvent):
            continue
        kind = event_type(event)
        for start, (id, ends) in PARTS_OF_A_RUN.items():
            if kind == start:
                opened.add((start, getattr(event, id)))
            elif kind in ends:
                opened.discard((start, getattr(event, id)))
    return opened


def is_terminal(event: Event) -> bool:
    return type(event).__name__ in ("RunFinishedEvent", "RunErrorEvent")


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    print(f"FUZZ_SEED={SEED} FUZZ_EXAMPLES={EXAMPLES}")
    folder = tmp_path_factory.mktemp("fuzz")
    opened = Stage(Settings(_env_file=None, data_dir=folder, flush_interval_s=0.005, max_tool_rounds=3))
    yield opened
    opened.close()


@pytest.mark.timeout(60 + 5 * EXAMPLES)
@hypothesis.seed(SEED)
@hypothesis.settings(max_examples=EXAMPLES, deadline=None, phases=[hypothesis.Phase.generate])  # a shrink takes minutes
@given(st.lists(ROUNDS, min_size=1, max_size=2))
def test_whatever_an_agent_does_its_run_ends_closed_and_pages_of_every_length_are_the_fold_of_the_log(
    stage: Stage, runs: list[list[Script]]
) -> None:
    stage.play(runs)
