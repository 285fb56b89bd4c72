"""One run, from its first round to its terminal event."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing

from agui_app.conversation.model import CallStatus, Message, ToolCall
from agui_app.protocol.events import Event, RunErrorEvent, RunFinishedEvent, RunFinishedInterruptOutcome
from agui_app.protocol.order import Order
from agui_app.runs.accept import Accepted
from agui_app.runs.batch import RunLost
from agui_app.runs.calls import answer
from agui_app.runs.coalesce import extent
from agui_app.runs.endings import CUT_SHORT, Ending, Stop, ended_by_agent, failed, last_events, stopped_by
from agui_app.runs.parts import Parts
from agui_app.runs.recorder import Recorder
from agui_app.runs.recover import end_somehow
from agui_app.runs.results import summarised, unanswered
from agui_app.runs.rounds import (
    Admission,
    AgentFailed,
    Earlier,
    agent_events,
    agent_input,
    client_tool_names,
    earlier_messages,
)
from agui_app.runs.stream import RunStream, TakenBack
from agui_app.storage.patience import patiently

STOP_BOUND_S = 1.0  # contract: a cancelled agent stops within a second

_log = logging.getLogger(__name__)


class SaidTooMuch(Exception):
    """The agent goes on and on; the message can be shown."""


class Pipeline:
    """Carries out a run that was accepted. However it goes, the run ends closed."""

    def __init__(self, accepted: Accepted, parts: Parts):
        self.ref = accepted.ref
        self.done = asyncio.Event()
        self.stop_reason: Stop | None = None
        self._accepted = accepted
        self._parts = parts
        self._recorder = Recorder(
            accepted.ref, accepted.rows, parts.writer, parts.objects, parts.clock, accepted.started_at
        )
        self._stream = RunStream(
            accepted.conversation,
            self._recorder,
            parts.clock,
            parts.settings.flush_interval_s,
            on_broken=lambda: self.stop(Stop.BROKEN),
        )
        self.violations = 0
        """How often the agent broke the order of events."""
        self._order = Order()
        self._said_chars = 0
        self._work: asyncio.Task[Ending | Exception] | None = None
        self._stopped: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def stop(self, reason: Stop) -> None:
        """The agent and its tools are stopped, and the run ends. The first reason counts."""
        if self.stop_reason is None:
            self.stop_reason = reason
            self._stopped.set_result(None)
            if self._work is not None:
                self._work.cancel()

    async def run(self) -> None:
        """Back when the run is closed. Raises nothing."""
        flushing = self._parts.spawn(self._stream.run())
        try:
            await self._end(await self._ending())
        except Exception:
            if not self._stream.lost:
                _log.exception("run %s is ended from its log", self.ref.run_id)
                await self._end_from_log()
        finally:
            if self._stream.lost:
                _log.warning("run %s was taken over by another worker", self.ref.run_id)
                self._parts.writer.cut_off(self.ref)
            self._stream.close()
            await asyncio.wait({flushing})
            self.done.set()

    async def _ending(self) -> Ending:
        """How the run ends, when its work is done, or stopped, or takes too long."""
        self._work = work = self._parts.spawn(self._do_work())
        if self.stop_reason is not None:
            work.cancel()
        timeout_s = self._parts.settings.run_timeout_s
        done, _ = await asyncio.wait({work, self._stopped}, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if not done:
            self.stop(Stop.TIMEOUT)
        if self.stop_reason is not None:
            done, _ = await asyncio.wait({work}, timeout=STOP_BOUND_S)
            if not done:
                _log.error("the agent of run %s does not stop; its run ends without it", self.ref.run_id)
            return stopped_by(self.stop_reason, self._finished(), timeout_s)
        if work.cancelled():
            return failed("agent_failed", "The agent gave up")
        result = work.result()
        if isinstance(result, Exception):
            raise result
        return result

    async def _do_work(self) -> Ending | Exception:
        try:
            return await self._rounds()
        except AgentFailed as error:
            return failed("agent_failed", str(error))
        except SaidTooMuch as error:
            return failed("too_large", str(error))
        except Exception as error:  # ours: the run is ended from its log
            return error

    async def _rounds(self) -> Ending:
        earlier = await patiently(self._earlier_messages, f"run {self.ref.run_id}")
        admission = Admission(self.ref.run_id, earlier, self._stream.conversation.messages)
        for _ in range(self._parts.settings.max_tool_rounds + 1):
            terminal = await self._round(admission)
            if terminal is None and self._stopped_in_a_call():
                return failed("interrupted", "The agent stopped in the middle of a call", error=CUT_SHORT)
            calls = self._calls_to_answer(terminal)
            if not calls:
                return ended_by_agent(terminal, self._stream.conversation, self._finished())
            for call in calls:
                await answer(call, self._accepted, self._parts, self._stream)
        limit = self._parts.settings.max_tool_rounds
        return failed("too_many_rounds", f"The agent called tools in more than {limit} rounds")

    async def _earlier_messages(self) -> Earlier:
        return await earlier_messages(self._parts.database, self._parts.objects, self._accepted)

    async def _round(self, admission: Admission) -> Event | None:
        """The agent's terminal event, if it sent one; whatever comes after it is not heard."""
        admission.begin_round()
        messages = (*admission.earlier, *self._stream.conversation.messages)
        input = agent_input(self._accepted, self._parts.tools, messages)
        async with aclosing(agent_events(self._parts.agent, input)) as events:
            async for event in events:
                self._count(event)
                if isinstance(event, RunFinishedEvent | RunErrorEvent):
                    return event
                admitted, revised = admission.admit(event)
                if admitted is not None:
                    self._hear(admitted, revised)
                    await self._stream.room()
        return None

    def _count(self, event: Event) -> None:
        """Bounds what one run takes of memory and log, also of an agent that never ends. Raises SaidTooMuch."""
        limit = self._parts.settings.max_run_chars
        self._said_chars += extent(event)
        if self._said_chars > limit:
            raise SaidTooMuch(f"The agent said more than {limit} characters in one run (AGUI_MAX_RUN_CHARS)")

    def _hear(self, event: Event, revised: tuple[Message, ...]) -> None:
        """What the agent said, after the ends that it owes before it, unless it means nothing where it stands."""
        ends = self._order.owed(event)
        for one in (*ends, event):
            ordered = self._in_order(one)
            if ordered is not None:
                said = summarised(self._stream.conversation, ordered, self._accepted.request.locale)
                self._stream.say(said, revised=revised if one is event else ())

    def _in_order(self, event: Event) -> Event | None:
        """The event, or None when it means nothing where it stands; a breach of the order is counted."""
        verdict = self._order.check(event)
        if verdict.violation is not None:
            self.violations += 1
            _log.info("the agent of run %s broke a rule: %s", self.ref.run_id, verdict.violation)
        return verdict.event

    def _stopped_in_a_call(self) -> bool:
        """Whether a call's arguments never ended: asking again would only cut it again."""
        calls = unanswered(self._stream.conversation, self.ref.run_id)
        return any(call.status is CallStatus.PENDING for call in calls)

    def _calls_to_answer(self, terminal: Event | None) -> list[ToolCall]:
        """The calls that are ours, and those of tools that nobody has when the agent waits for them."""
        if isinstance(terminal, RunErrorEvent):
            return []
        if isinstance(terminal, RunFinishedEvent) and isinstance(terminal.outcome, RunFinishedInterruptOutcome):
            return []
        tools = self._parts.tools
        elsewhere = client_tool_names(self._accepted.request.body.get("tools"), tools)
        calls = unanswered(self._stream.conversation, self.ref.run_id)
        calls = [call for call in calls if call.status is CallStatus.EXECUTING]
        return [call for call in calls if call.name in tools or (terminal is None and call.name not in elsewhere)]

    async def _end(self, ending: Ending) -> None:
        try:
            await self._stream.settle()
        except TakenBack:
            _log.warning("run %s was stopped while a tool's effect failed", self.ref.run_id)
        locale = self._accepted.request.locale
        self._stream.end(last_events(self._stream.conversation, ending, locale, self._order))
        await self._stream.settle()

    async def _end_from_log(self) -> None:
        ending = failed("internal", "The run could not be stored")

        async def end() -> None:
            await end_somehow(self.ref, ending, self._parts, self._recorder.beat_at)

        try:
            await patiently(end, f"run {self.ref.run_id}")
        except RunLost:
            self._parts.writer.cut_off(self.ref)
        except Exception:
            _log.exception("run %s stays open until its heartbeat is old", self.ref.run_id)

    def _finished(self) -> RunFinishedEvent:
        return RunFinishedEvent(thread_id=self.ref.thread_id, run_id=self.ref.run_id)
