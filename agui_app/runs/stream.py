"""The growing end of a run: every event is folded here, then gathered, committed and shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from agui_app.conversation.beyond import noted
from agui_app.conversation.model import Conversation, Message
from agui_app.conversation.reducer import reduce
from agui_app.protocol.events import Event, MessagesSnapshotEvent, stamp
from agui_app.runs.batch import Effect, RunLost
from agui_app.runs.outbox import Entry, Outbox
from agui_app.runs.recorder import Recorder
from agui_app.storage.messages import moment_ms
from agui_app.storage.patience import patiently


class TakenBack(Exception):
    """An effect failed: it, and the event that reports it, never were."""


class Broken(Exception):
    """The log does not take the run's events any more: the reason is ours, or the run is no longer this worker's."""


class RunStream:
    """Says what happens in a run. One task speaks, `run` is another."""

    def __init__(
        self,
        conversation: Conversation,
        recorder: Recorder,
        clock: Callable[[], datetime],
        flush_interval_s: float,
        on_broken: Callable[[], None],
    ):
        self.conversation = conversation
        """The fold of everything said, which may be ahead of the log by one flush."""
        self.broken = False
        """The log takes nothing more of this stream; `on_broken` was called when that was seen."""
        self.lost = False
        """It is broken because the run is over, or another worker's."""
        self._on_broken = on_broken
        self._recorder = recorder
        self._clock = clock
        self._outbox = Outbox(self._flush, flush_interval_s)
        self._before_effect: Conversation | None = None
        self._took_rows_away = False
        self._ended = False

    def say(self, event: Event, *, effect: Effect | None = None, revised: tuple[Message, ...] = ()) -> None:
        """The event is folded, and goes out with the next flush; after the end of the run it is not heard."""
        if self._ended:
            return
        stamped = stamp(noted(self.conversation, event, always=self._took_rows_away), moment_ms(self._clock()))
        self._took_rows_away |= isinstance(event, MessagesSnapshotEvent)
        self.conversation = reduce(self.conversation, stamped)
        self._outbox.add(Entry(stamped, effect, revised))

    def end(self, events: Iterable[Event]) -> None:
        """The last events of the run are said, its terminal event at their end."""
        for event in events:
            self.say(event)
        self._ended = True

    async def room(self) -> None:
        """Back at once, or when a speaker that is far ahead of the database may go on."""
        if self._outbox.is_full:
            await self.settle()

    async def settle(self) -> None:
        """Back when everything said is committed and shown.

        Raises: TakenBack, Broken.
        """
        try:
            await self._outbox.drain()
        except Exception as error:
            if self.broken or self._before_effect is None:
                raise Broken from error
            self.conversation, self._before_effect = self._before_effect, None
            raise TakenBack from error
        if self.broken:
            raise Broken
        self._before_effect = None

    async def do(self, event: Event, effect: Effect) -> None:
        """The effect and the event that reports it are committed together.

        Raises: TakenBack: neither is. Broken.
        """
        await self.settle()  # so that nothing else is lost with it
        self._before_effect = self.conversation
        self.say(event, effect=effect)
        await self.settle()

    async def run(self) -> None:
        """Flushes until closed."""
        await self._outbox.run()

    def close(self) -> None:
        self._outbox.close()

    async def _flush(self, entries: Sequence[Entry]) -> None:
        conversation = self.conversation
        events = [entry.event for entry in entries]
        effects = [entry.effect for entry in entries if entry.effect is not None]
        revised = {message.id: message for entry in entries for message in entry.revised}

        async def record() -> None:
            await self._recorder.record(events, conversation, effects=effects, revised=revised.values())

        try:
            await patiently(record, f"run {self._recorder.run.run_id}")
        except Exception as error:
            self.lost = isinstance(error, RunLost)
            if self.lost or self._before_effect is None:
                self.broken = True
                self._on_broken()
            raise
