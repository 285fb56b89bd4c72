"""The API keeps its own description: nothing that can be sent to it has an answer that OpenAPI does not tell of."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import hypothesis
import pytest
import requests
import schemathesis
from schemathesis.checks import CHECKS, load_all_checks
from schemathesis.config import SchemathesisConfig

from agui_app.agents.base import AgentInput
from agui_app.api.app import create_api
from agui_app.api.guard import Guard
from agui_app.client import AsgiTransport
from agui_app.protocol.ids import is_valid_id
from agui_app.services import Overrides, Services, open_services
from agui_app.settings import Settings
from tests.api.conftest import BASE_URL
from tests.runs.house import body, call, text, user
from tests.runs.test_parity import SCRIPT

load_all_checks()

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "10"))
SEED = int(os.environ.get("FUZZ_SEED", "1"))
RULES = (
    "a new thread needs at least one message",
    "says nothing:",
    "characters; at most",
    "the thread has no message",
    "is no configured agent",
    "is no IANA time zone",
)
TIMEOUT_S = 60 + 5 * EXAMPLES
ACCEPTANCE = CHECKS.get_by_names(["positive_data_acceptance"])
QUIET_S = 0.05  # a stream that says nothing for so long is left

schema = schemathesis.openapi.from_dict(
    create_api(lambda: None, Settings(_env_file=None)).openapi(),  # type: ignore[arg-type,return-value]
    config=SchemathesisConfig.from_dict({"seed": SEED, "generation": {"max-examples": EXAMPLES}}),
)


FAILS = [
    {"type": "SUBAGENT_STARTED", "subagentRunId": "s", "name": "helper", "description": "looks it up"},
    {"type": "SUBAGENT_FINISHED", "subagentRunId": "s", "result": 1},
    *call("nobody")[:2],
    {"type": "RUN_ERROR", "message": "no", "code": "odd"},
]
SEEDS = [
    body(
        {"id": "s", "role": "system", "content": "be brief", "name": "x", "metadata": {"k": 1}},
        {"id": "t", "role": "tool", "toolCallId": "none", "content": "detached"},
        user([{"type": "text", "text": "look"}, {"type": "image", "source": {"type": "url", "value": "u"}}]),
    ),
    body(user("more", "u2"), run="r2"),
]
"""Runs of the thread `t` that fill it with rows of every role, parts, calls, steps and an error."""


class Asked:
    """The API over real services, on a loop of its own, so that many examples share it."""

    def __init__(self, folder: Path) -> None:
        settings = Settings(_env_file=None, data_dir=folder, flush_interval_s=0.005, max_open_streams=50)
        self._runner = asyncio.Runner()
        self._opened = open_services(settings, Overrides(agent=Talker()))
        services = self._run(self._opened.__aenter__())
        for run in SEEDS:
            self._run(self._play(services, run))
        app = Guard(create_api(lambda: services, settings), settings)
        self._http = httpx.AsyncClient(transport=AsgiTransport(app), base_url=BASE_URL)

    def _run(self, work: Any) -> Any:
        return self._runner.run(work)

    def close(self) -> None:
        self._run(self._opened.__aexit__(None, None, None))
        self._runner.close()

    async def _play(self, services: Services, run: dict[str, Any]) -> None:
        await services.runs.start("local", run)
        async for _ in services.events.follow("local", "t", after=None, run_id=run["runId"]):
            pass

    def send(self, kwargs: dict[str, Any]) -> httpx.Response:
        kwargs.pop("timeout", None)
        prepared = requests.Request(**kwargs).prepare()
        return self._run(self._send(prepared))

    async def _send(self, prepared: requests.PreparedRequest) -> httpx.Response:
        body = prepared.body
        request = self._http.build_request(
            str(prepared.method),
            str(prepared.url),
            headers=list(prepared.headers.items()),
            content=body.encode() if isinstance(body, str) else body,
        )
        response = await self._http.send(request, stream=True)
        content = await self._read(response)
        answer = httpx.Response(response.status_code, headers=response.headers, content=content, request=request)
        answer.elapsed = timedelta()
        return answer

    async def _read(self, response: httpx.Response) -> bytes:
        """The body; of a stream what it says until it is quiet, then it is left as a client leaves it."""
        try:
            if "event-stream" not in response.headers.get("content-type", ""):
                return await response.aread()
            content = bytearray()
            chunks = aiter(response.aiter_bytes())
            try:
                while True:
                    async with asyncio.timeout(QUIET_S):
                        content += await anext(chunks)
            except (TimeoutError, StopAsyncIteration):
                return bytes(content)
        finally:
            await response.aclose()


class Talker:
    """An agent that says of everything something in the seeded runs, and one text in all others."""

    def __init__(self) -> None:
        self._rounds = {"r": iter([SCRIPT, text("done", id="m9")]), "r2": iter([FAILS])}

    async def run(self, input: AgentInput) -> AsyncIterator[Any]:
        said = text("hello", id=f"{input.run_id}.m")
        for event in next(self._rounds.get(input.run_id, iter([said])), said):
            yield event


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    print(f"FUZZ_SEED={SEED} FUZZ_EXAMPLES={EXAMPLES}")
    opened = Asked(tmp_path_factory.mktemp("api"))
    yield opened
    opened.close()


def said_by_no_schema(response: httpx.Response) -> bool:
    """Whether a request that fits its schema was refused by a rule that JSON Schema has no words for."""
    content = response.json() if response.status_code == 422 else {}
    rules = [any(rule in error["message"] for rule in RULES) for error in content.get("errors", ())]
    return content.get("code") == "invalid_cursor" or (bool(rules) and all(rules))


def check(case: Any, asked: Asked) -> None:
    response = asked.send(case.as_transport_kwargs(base_url=BASE_URL))
    case.validate_response(response, excluded_checks=ACCEPTANCE if said_by_no_schema(response) else [])


@schema.parametrize()
@pytest.mark.timeout(TIMEOUT_S)
@hypothesis.settings(max_examples=EXAMPLES, deadline=None)
def test_every_answer_is_one_that_the_description_tells_of(case: Any, asked: Asked) -> None:
    check(case, asked)


@schema.include(path_regex="threadId").parametrize()
@pytest.mark.timeout(TIMEOUT_S)
@hypothesis.settings(max_examples=EXAMPLES, deadline=None)
def test_every_answer_about_a_thread_that_is_there_is_one_that_the_description_tells_of(
    case: Any, asked: Asked
) -> None:
    if is_valid_id(case.path_parameters["threadId"]):  # one that breaks the rule stays what it is
        case.path_parameters = {"threadId": "t"}
    if is_valid_id(case.query.get("runId")):
        case.query = {**case.query, "runId": "r"}
    check(case, asked)
