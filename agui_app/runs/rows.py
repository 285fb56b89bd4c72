"""Which message rows of the active run differ from its fold, and where each message stands in the thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from agui_app.conversation.model import CallStatus, Message, MessageStatus, Role


@dataclass(frozen=True, slots=True)
class RowChanges:
    """The way from the stored rows of a run to its fold."""

    inserts: tuple[Message, ...] = ()
    updates: tuple[Message, ...] = ()
    deletes: tuple[str, ...] = ()
    positions: Mapping[str, int] = field(default_factory=dict[str, int])
    """Of every message of the run, by id."""
    next_position: int = 0


class RunRows:
    """The message rows of one run, as they are stored.

    A row is written when the message begins, when it settles and when the run ends, not with every delta.
    """

    def __init__(self, next_position: int):
        self.next_position = next_position
        self.positions: dict[str, int] = {}
        self.written: dict[str, Message] = {}

    def changes(self, messages: Sequence[Message], *, final: bool = False) -> RowChanges:
        """What to write so that the rows are `messages`; `final`: however little it is."""
        positions, next_position = _places(messages, self.positions, self.next_position)
        known = {message.id for message in messages}
        return RowChanges(
            inserts=tuple(message for message in messages if message.id not in self.positions),
            updates=tuple(
                message
                for message in messages
                if message.id in self.positions
                and (self._differs(message, final) or positions[message.id] != self.positions[message.id])
            ),
            deletes=tuple(id for id in self.positions if id not in known),
            positions=positions,
            next_position=next_position,
        )

    def accept(self, changes: RowChanges) -> None:
        """The changes are stored."""
        self.positions = dict(changes.positions)
        self.next_position = changes.next_position
        for id in changes.deletes:
            self.written.pop(id, None)
        self.written.update((message.id, message) for message in (*changes.inserts, *changes.updates))

    def _differs(self, message: Message, final: bool) -> bool:
        written = self.written.get(message.id)
        if written is message:
            return False
        return written is None or final or not (_streams(written) and _streams(message))


def _streams(message: Message) -> bool:
    """Whether a text or arguments are still coming: only the log follows those."""
    return message.status is MessageStatus.STREAMING or (
        message.call is not None and message.call.status is CallStatus.PENDING
    )


def _places(messages: Iterable[Message], known: Mapping[str, int], next_position: int) -> tuple[dict[str, int], int]:
    """The place of every message, strictly rising, and the next free one.

    A message keeps its place unless it would break the order. A call keeps the place after it for its result,
    so that the result stands there whenever it comes.
    """
    places: dict[str, int] = {}
    last = -1
    reserved: int | None = None
    for message in messages:
        place = known.get(message.id)
        if place is None and message.role is Role.TOOL and reserved is not None:
            place = reserved
        if place is None or place <= last:
            place = next_position
        places[message.id] = last = place
        next_position = max(next_position, place + 1)
        reserved = None
        if message.call is not None:
            reserved = place + 1
            next_position = max(next_position, place + 2)
    return places, next_position
