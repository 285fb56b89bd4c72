"""What several routes share: their parameters, and how they get at the services."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import Depends, Header, Path, Query, Request
from pydantic import AfterValidator, WithJsonSchema

from agui_app.errors import StoreUnavailable
from agui_app.protocol.ids import is_valid_id
from agui_app.services import Services
from agui_app.settings import Settings
from agui_app.storage.tables import LOCAL_OWNER
from agui_app.storage.threads import find_thread

PREFIX = "/api/v1/agent"
MAX_PAGE = 200
DEFAULT_PAGE = 50
NO_SUCH_POSITION = -1
ID_SCHEMA = {
    "type": "string",
    "minLength": 1,
    "maxLength": 128,
    "pattern": r"^(?!\.{1,2}$)[A-Za-z0-9._:@~-]+$",
}


def checked_id(value: str) -> str:
    """`value`, an id as clients may choose it. Raises: ValueError."""
    if not is_valid_id(value):
        raise ValueError("an id is 1 to 128 characters of A-Z a-z 0-9 . _ : @ ~ - and neither . nor ..")
    return value


async def _services(request: Request) -> Services:
    try:
        return request.app.state.get_services()
    except LookupError as error:
        raise StoreUnavailable("the server is starting or stopping; try again") from error


async def _settings(request: Request) -> Settings:
    return request.app.state.settings


ServicesDep: TypeAlias = Annotated[Services, Depends(_services)]
SettingsDep: TypeAlias = Annotated[Settings, Depends(_settings)]
Id: TypeAlias = Annotated[str, AfterValidator(checked_id), WithJsonSchema(ID_SCHEMA)]
ThreadId: TypeAlias = Annotated[Id, Path(alias="threadId")]
OptionalThreadId: TypeAlias = Annotated[Id | None, Query(alias="threadId")]
OptionalRunId: TypeAlias = Annotated[Id | None, Query(alias="runId")]
Before: TypeAlias = Annotated[str | None, Query(max_length=2000, description="`nextCursor` of the page before")]
After: TypeAlias = Annotated[str | None, Query(description="the id to resume after; Last-Event-ID beats it")]
LastEventId: TypeAlias = Annotated[str | None, Header(description="the id to resume after")]
Limit: TypeAlias = Annotated[int, Query(ge=1, le=MAX_PAGE)]


def position(given: str | None) -> int | None:
    """The position that a client names with an id; None when it names none.

    What is no id of ours is NO_SUCH_POSITION, which a stream answers with a resynchronisation.
    """
    if given is None or given == "":
        return None
    known = given.isascii() and given.isdigit() and len(given) <= len(str(2**63)) - 1
    return int(given) if known else NO_SUCH_POSITION


async def require_thread(services: Services, thread_id: str) -> None:
    """Nothing when the owner has the thread. Raises: NotFound."""
    async with services.database.read() as session:
        await find_thread(session, LOCAL_OWNER, thread_id)
