from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import httpx
import pytest

from agui_app.client import AguiClient, ServerEvent, Unreachable
from agui_app.errors import (
    AguiError,
    FieldError,
    InvalidRequest,
    NotFound,
    RunActive,
    StoreUnavailable,
)

RS = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
TS = {"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "assistant"}
TC = {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "你好🌍"}
TE = {"type": "TEXT_MESSAGE_END", "messageId": "m"}
RF = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
RENAMED = {"type": "thread.updated", "thread": {"id": "t"}}
OPEN = b": open\n\n"
UNSURE = ServerEvent("", {"type": "resync"})
RUN = [RS, TS, TC, TE, RF]


def frame(event: Any, id: int | None = None, end: str = "\n") -> bytes:
    data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
    return (f"id: {id}{end}" if id is not None else "").encode() + f"data: {data}{end}{end}".encode()


class Chunks(httpx.AsyncByteStream):
    """A body that comes in these pieces and then ends, fails or stays open."""

    def __init__(self, *pieces: bytes, then: Exception | asyncio.Event | None = None) -> None:
        self._pieces = pieces
        self._then = then
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
        if isinstance(self._then, Exception):
            raise self._then
        if self._then is not None:
            await self._then.wait()

    async def aclose(self) -> None:
        self.closed = True


class Server:
    """Gives these answers, one a request; then 204. It keeps what was asked."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self._answers = list(answers)
        self.asked: list[httpx.Request] = []
        self.pauses: list[float] = []

    def client(self) -> AguiClient:
        return AguiClient("http://server", httpx.MockTransport(self._answer), sleep=self._sleep)

    async def _sleep(self, pause_s: float) -> None:
        self.pauses.append(pause_s)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        self.asked.append(request)
        answer = self._answers.pop(0) if self._answers else httpx.Response(204)
        if isinstance(answer, Exception):
            raise answer
        return answer


def stream(*pieces: bytes, then: Exception | asyncio.Event | None = None) -> httpx.Response:
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Chunks(*pieces, then=then))


def problem(status: int, **members: Any) -> httpx.Response:
    return httpx.Response(status, json=members, headers={"content-type": "application/problem+json"})


async def read(*pieces: bytes) -> list[dict[str, Any]]:
    """The events of a stream that comes in these pieces."""
    async with Server(stream(*pieces)).client() as client:
        return [event.event async for event in client.follow("t")]


async def first_while_open(count: int, *pieces: bytes) -> list[dict[str, Any]]:
    """The first events of a stream that stays open after these pieces."""
    seen: list[dict[str, Any]] = []
    server = Server(stream(*pieces, then=asyncio.Event()))
    async with server.client() as client, aclosing(client.follow("t")) as events:
        while len(seen) < count:
            seen.append((await anext(events)).event)
    return seen


class TestTheWire:
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    async def test_an_event_comes_with_its_blank_line_whatever_the_line_ends_are(self, end: str) -> None:
        for count in range(1, len(RUN) + 1):
            assert await first_while_open(count, *[frame(event, end=end) for event in RUN[:count]]) == RUN[:count]

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    async def test_a_stream_may_be_split_at_every_byte(self, end: str) -> None:
        whole = b"".join(frame(event, id, end) for id, event in enumerate(RUN, 1))
        assert await read(*[whole[at : at + 1] for at in range(len(whole))]) == RUN

    async def test_a_line_end_of_two_characters_may_lie_in_two_chunks(self) -> None:
        assert await read(b'data: {"a":\r\ndata: 1}\r', b"\ndata: \r\n\r\n") == [{"a": 1}]

    async def test_a_byte_order_mark_before_the_first_frame_is_dropped(self) -> None:
        whole = b"\xef\xbb\xbf" + frame(RS)
        assert await read(whole) == [RS]
        assert await read(*[whole[at : at + 1] for at in range(len(whole))]) == [RS]

    async def test_separators_of_unicode_end_no_line(self) -> None:
        delta = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg"
        raw = '{"delta": "' + delta + '"}'
        loose = raw.replace("\x0b", "\\u000b").replace("\x0c", "\\u000c").replace("\x1c", "\\u001c")
        assert await read(f"data: {loose}\n\n".encode()) == [{"delta": delta}]

    async def test_characters_may_come_one_byte_at_a_time(self) -> None:
        assert await read(*[bytes([byte]) for byte in frame(TC)]) == [TC]

    async def test_comments_and_fields_that_are_not_ours_are_no_events(self) -> None:
        raw = b': hi\nid: 7\nretry: 5\nevent: x\ndata:{"a":\ndata: 1}\nodd: 1\nodd\n\n'
        async with Server(stream(raw)).client() as client:
            assert [event async for event in client.follow("t")] == [ServerEvent("7", {"a": 1})]

    async def test_a_frame_that_is_no_json_object_is_skipped_and_counted(self) -> None:
        unknown = {"type": "NEVER_HEARD_OF", "key": 1}
        pieces = [frame(RS, 1), frame("not-json", 2), frame("[1]", 3), frame("[" * 100_000, 4), frame(unknown, 5)]
        server = Server(stream(b"".join(pieces)), stream(frame("5", 6)))
        async with server.client() as client:
            events = [event async for event in client.follow("t")]
            assert (events, client.skipped) == ([ServerEvent("1", RS), ServerEvent("5", unknown)], 4)
        assert [request.headers.get("last-event-id") for request in server.asked] == [None, "5", "6"]

    async def test_a_frame_cut_off_by_the_end_is_not_read(self) -> None:
        assert await read(frame(RS), frame(TS)[:-1]) == [RS]


class TestFollowing:
    async def test_a_dropped_stream_is_resumed_after_the_last_id(self) -> None:
        server = Server(
            stream(frame(RS, 1), frame(TS, 2)),
            httpx.ConnectError("refused"),
            stream(frame(TC, 3), then=httpx.ReadError("reset")),
            stream(frame(TE, 4), then=httpx.ReadTimeout("silence")),
            stream(frame(RF, 5)),
        )
        async with server.client() as client:
            events = [event async for event in client.follow("t", "0", run_id="r")]
        assert events == [ServerEvent(str(id), event) for id, event in enumerate(RUN, 1)]
        assert [request.headers["last-event-id"] for request in server.asked] == ["0", "2", "2", "3", "4", "5"]
        assert {str(request.url) for request in server.asked} == {"http://server/api/v1/agent/runs/t/events?runId=r"}

    async def test_pauses_grow_until_something_comes(self) -> None:
        down = [httpx.ConnectError("refused")] * 7
        server = Server(*down, stream(frame(RS, 1)), problem(503, code="store_unavailable", detail="away"))
        async with server.client() as client:
            assert [event.event async for event in client.follow("t")] == [RS]
        assert server.pauses == [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 0.2, 0.4]

    async def test_the_silence_after_which_a_stream_is_dead_is_longer_than_that_of_a_request(self) -> None:
        server = Server(stream(frame(RS, 1)), httpx.Response(200, json={}))
        async with server.client() as client:
            async with aclosing(client.follow("t")) as events:
                await anext(events)
            await client.history(None)
        assert [request.extensions["timeout"]["read"] for request in server.asked] == [45, 10]

    async def test_a_refusal_ends_it(self) -> None:
        server = Server(problem(404, code="not_found", detail="no such thread"))
        async with server.client() as client:
            with pytest.raises(NotFound, match="no such thread"):
                await anext(client.follow("t"))
        assert server.pauses == []

    async def test_an_answer_that_is_no_stream_is_tried_again(self) -> None:
        server = Server(httpx.Response(200, html="<p>a proxy's page"), httpx.Response(502, text="bad gateway"))
        async with server.client() as client:
            assert [event async for event in client.follow("t")] == []
        assert server.pauses == [0.2, 0.4]

    async def test_what_came_at_once_is_one_batch(self) -> None:
        server = Server(stream(frame(RS, 1) + frame(TS, 2) + frame(TC, 3)[:9], frame(TC, 3)[9:], b": keep-alive\n\n"))
        async with server.client() as client:
            batches = [batch async for batch in client.follow_batches("t")]
        assert batches == [[ServerEvent("1", RS), ServerEvent("2", TS)], [ServerEvent("3", TC)]]

    async def test_closing_it_closes_the_connection(self) -> None:
        body = Chunks(frame(RS, 1), then=asyncio.Event())
        server = Server(httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=body))
        async with server.client() as client, aclosing(client.follow("t")) as events:
            await anext(events)
            assert not body.closed
        assert body.closed

    def test_a_resynchronisation_holds_the_newest_page(self) -> None:
        ours = {
            "partial": True,
            "threadId": "t",
            "runs": [{"runId": "r"}],
            "hasMore": True,
            "nextCursor": "c",
            "activeRunId": None,
        }
        event = {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "m"}], "metadata": {"agui-app": ours}}
        assert ServerEvent("9", event).page == {
            "threadId": "t",
            "messages": [{"id": "m"}],
            "runs": [{"runId": "r"}],
            "hasMore": True,
            "nextCursor": "c",
            "activeRunId": None,
            "lastEventId": "9",
        }

    @pytest.mark.parametrize(
        "event",
        [
            RS,
            {"type": "MESSAGES_SNAPSHOT", "messages": []},
            {"type": "MESSAGES_SNAPSHOT", "messages": [], "metadata": {"agui-app": {"summary": "x"}}},
            {"type": "MESSAGES_SNAPSHOT", "messages": [], "metadata": "x"},
            {"type": "CUSTOM", "metadata": {"agui-app": {"partial": True}}},
        ],
    )
    def test_another_event_holds_no_page(self, event: dict[str, Any]) -> None:
        assert ServerEvent("1", event).page is None

    async def test_the_reader_is_told_when_the_stream_drops_and_when_it_stands_again(self) -> None:
        server = Server(stream(frame(RS, 1)), httpx.ConnectError("down"), stream(frame(RF, 2)))
        told: list[bool] = []

        async def tell(stands: bool) -> None:
            told.append(stands)

        async with server.client() as client:
            async for _ in client.follow_batches("t", on_connection=tell):
                pass
        assert told == [True, False, False, True, False]


class TestChanges:
    async def follow(self, server: Server, after: str | None = None) -> list[ServerEvent]:
        async with server.client() as client:
            return [event async for event in client.changes(after)]

    async def test_it_begins_with_a_resync_once_the_stream_is_open(self) -> None:
        server = Server(httpx.ConnectError("refused"), stream(OPEN, frame(RENAMED, 7)))
        assert await self.follow(server) == [UNSURE, ServerEvent("7", RENAMED)]
        assert {str(request.url) for request in server.asked} == {"http://server/api/v1/agent/changes"}

    async def test_a_drop_goes_on_after_the_last_id(self) -> None:
        server = Server(
            stream(OPEN + frame(RENAMED, 7), then=httpx.ReadError("reset")),
            stream(OPEN, frame(RENAMED, 8)),
            problem(503, code="store_unavailable", detail="away"),
            stream(OPEN, frame({"type": "resync"}, 900), frame(RENAMED, 901)),
        )
        assert await self.follow(server) == [
            UNSURE,
            *(ServerEvent("7", RENAMED), ServerEvent("8", RENAMED)),
            *(ServerEvent("900", {"type": "resync"}), ServerEvent("901", RENAMED)),
        ]
        ids = [request.headers.get("last-event-id") for request in server.asked]
        assert ids == [None, "7", "8", "8", "901"]

    async def test_a_drop_before_the_first_id_is_another_resync(self) -> None:
        server = Server(stream(OPEN, then=httpx.ReadError("reset")), stream(OPEN), stream(OPEN, frame(RENAMED, 7)))
        assert await self.follow(server) == [UNSURE, UNSURE, UNSURE, ServerEvent("7", RENAMED)]
        assert server.pauses == [0.2, 0.4, 0.2]

    async def test_with_an_id_it_goes_on_from_there(self) -> None:
        server = Server(stream(OPEN, frame(RENAMED, 8)))
        assert await self.follow(server, "7") == [ServerEvent("8", RENAMED)]
        assert [request.headers.get("last-event-id") for request in server.asked] == ["7", "8"]

    async def test_a_refusal_ends_it(self) -> None:
        with pytest.raises(InvalidRequest):
            await self.follow(Server(problem(422, code="invalid_request", detail="no")))


class TestRequests:
    async def test_each_method_is_one_request(self) -> None:
        server = Server(*[httpx.Response(200, json={"n": n}) for n in range(8)])
        async with server.client() as client:
            answers = [
                await client.start_run({"messages": [{"role": "user", "content": "a\ud800"}]}),
                await client.cancel("t"),
                await client.cancel("t", "r"),
                await client.history(None),
                await client.history("t", before="c", limit=5),
                await client.threads(),
                await client.threads("c", 7, "words"),
                await client.rename_thread("t", "a\udc00"),
            ]
            await client.delete_thread("t")
        assert answers == [{"n": n} for n in range(8)]
        assert [(request.method, request.url.raw_path.decode(), request.content) for request in server.asked] == [
            ("POST", "/api/v1/agent/runs", '{"messages":[{"role":"user","content":"a\ufffd"}]}'.encode()),
            ("POST", "/api/v1/agent/runs/t/cancel", b"{}"),
            ("POST", "/api/v1/agent/runs/t/cancel", b'{"runId":"r"}'),
            ("GET", "/api/v1/agent/history?limit=50", b""),
            ("GET", "/api/v1/agent/history?threadId=t&before=c&limit=5", b""),
            ("GET", "/api/v1/agent/threads?limit=50", b""),
            ("GET", "/api/v1/agent/threads?before=c&limit=7&q=words", b""),
            ("PATCH", "/api/v1/agent/threads/t", '{"title":"a\ufffd"}'.encode()),
            ("DELETE", "/api/v1/agent/threads/t", b""),
        ]

    async def test_a_problem_is_raised_as_the_error_it_names(self) -> None:
        answer = problem(
            409,
            type="x",
            title="A run is active",
            detail="one at a time",
            code="run_active",
            errors=[{"pointer": "/a", "message": "b"}],
            activeRunId="r1",
        )
        async with Server(answer).client() as client:
            with pytest.raises(RunActive) as caught:
                await client.start_run({})
        assert (caught.value.detail, caught.value.errors, caught.value.extra) == (
            "one at a time",
            (FieldError("/a", "b"),),
            {"activeRunId": "r1"},
        )

    @pytest.mark.parametrize(
        ("answer", "kind"),
        [
            (problem(503, code="store_unavailable", detail="x"), StoreUnavailable),
            (problem(422, code="of_a_later_version", detail="x"), InvalidRequest),
            (problem(500, code="of_a_later_version", detail="x"), AguiError),
            (problem(500, code="tool_failed", detail="x"), AguiError),
            (problem(400, code=["odd"], detail="x"), Unreachable),
            (problem(400, message="another shape"), Unreachable),
            (problem(400, code="not_found", detail="x", errors=[5]), Unreachable),
            (httpx.Response(502, text="bad gateway"), Unreachable),
            (httpx.Response(200, json=[1]), Unreachable),
            (httpx.ConnectError("refused"), Unreachable),
            (httpx.ReadTimeout("slow"), Unreachable),
        ],
    )
    async def test_any_other_answer_is_an_error_too(self, answer: httpx.Response | Exception, kind: type) -> None:
        async with Server(answer).client() as client:
            with pytest.raises(AguiError) as caught:
                await client.threads()
        assert type(caught.value) is kind
