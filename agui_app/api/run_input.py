"""What `POST /runs` takes: AG-UI's RunAgentInput, checked field by field."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, TypeAlias, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic.alias_generators import to_camel

from agui_app.api.body import escape
from agui_app.api.params import Id
from agui_app.errors import FieldError, InvalidRequest
from agui_app.protocol.ids import derived_id, new_id


class _Tolerant(BaseModel):
    """Unknown members pass; a null for an absent member too, where the field says so."""

    model_config = ConfigDict(extra="allow", alias_generator=to_camel, strict=True)


class Part(_Tolerant):
    """One part of a message's content; `text` parts are understood, others kept."""

    type: str

    @model_validator(mode="after")
    def _text_has_text(self) -> Self:
        if self.type == "text" and not isinstance((self.model_extra or {}).get("text"), str):
            raise ValueError("a text part needs its `text`")
        return self


Content: TypeAlias = str | list[Part]


class _Message(_Tolerant):
    id: Id | None = None


class UserMessage(_Message):
    role: Literal["user"]
    content: Content


class AssistantFunction(_Tolerant):
    name: str
    arguments: str = ""


class AssistantCall(_Tolerant):
    id: Id
    function: AssistantFunction


class AssistantMessage(_Message):
    role: Literal["assistant"]
    content: Content | None = None
    tool_calls: list[AssistantCall] | None = None


class ToolMessage(_Message):
    role: Literal["tool"]
    tool_call_id: Id
    content: Content | None = None


class TextMessage(_Message):
    role: Literal["system", "developer", "reasoning"]
    content: Content | None = None


class ActivityMessage(_Message):
    role: Literal["activity"]
    activity_type: str
    content: dict[str, Any]


Message: TypeAlias = Annotated[
    UserMessage | AssistantMessage | ToolMessage | TextMessage | ActivityMessage, Field(discriminator="role")
]


class ClientTool(_Tolerant):
    name: str
    description: str = ""
    parameters: dict[str, Any] | None = None


class ContextEntry(_Tolerant):
    description: str
    value: str


class ResumeEntry(_Tolerant):
    interrupt_id: str
    status: Literal["resolved", "cancelled"]
    payload: Any = None


class ForwardedProps(_Tolerant):
    """What goes through to the agent, and what this program reads of it."""

    replace_from: Annotated[
        Id | None,
        Field(description="retry or edit: the messages of the thread from this one on are replaced by this run"),
    ] = None


def _empty_for_null(value: object) -> object:
    return [] if value is None else value


class RunInput(_Tolerant):
    """AG-UI's RunAgentInput. Ids that are left out are made; so are those of messages."""

    thread_id: Id | None = None
    run_id: Id | None = None
    parent_run_id: Id | None = None
    messages: Annotated[list[Message], BeforeValidator(_empty_for_null)] = []
    tools: list[ClientTool] | None = None
    context: list[ContextEntry] | None = None
    state: Any = None
    forwarded_props: ForwardedProps | None = None
    resume: list[ResumeEntry] | None = None


class CancelInput(_Tolerant):
    """What `POST …/cancel` may say."""

    run_id: Id | None = None


def read_cancel(raw: Any) -> str | None:
    """The run that a cancel names; None for the active one. Raises: InvalidRequest."""
    try:
        return CancelInput.model_validate({} if raw is None else raw).run_id
    except ValidationError as error:
        raise invalid_body(error, raw) from error


def read_run_input(raw: Any, agent: str) -> dict[str, Any]:
    """`raw` with every id filled in and nothing else changed; `agent` is the one that may be asked for by name.

    A made id follows from `runId`, when there is one, so that the same request sent twice stays the same request.

    Raises: InvalidRequest, with a JSON pointer for each wrong field.
    """
    try:
        given = RunInput.model_validate(raw)
    except ValidationError as error:
        raise invalid_body(error, raw) from error
    _refuse_blank(given)
    _refuse_other_agent(given, agent)
    body = {key: value for key, value in raw.items() if value is not None}
    run_id = given.run_id or new_id("run")
    body["runId"] = run_id
    body["threadId"] = given.thread_id or derived_id("thread", run_id)
    body["messages"] = [
        {**message, "id": message.get("id") or derived_id("message", run_id, str(index))}
        for index, message in enumerate(body.get("messages", []))
    ]
    return body


def _refuse_blank(given: RunInput) -> None:
    last = given.messages[-1] if given.messages else None
    if isinstance(last, UserMessage) and _is_blank(last.content):
        raise one_field(f"/messages/{len(given.messages) - 1}/content", "says nothing: only white space")


def _is_blank(content: Content) -> bool:
    if isinstance(content, str):
        return not content.strip()
    return all(part.type == "text" and not (part.model_extra or {})["text"].strip() for part in content)


def _refuse_other_agent(given: RunInput, agent: str) -> None:
    asked = ((given.forwarded_props and given.forwarded_props.model_extra) or {}).get("agent")
    if asked is not None and asked != agent:
        raise one_field("/forwardedProps/agent", f"{str(asked)[:100]!r} is no configured agent; there is {agent!r}")


def one_field(pointer: str, message: str) -> InvalidRequest:
    """The error of a body with one wrong field."""
    return InvalidRequest(f"{pointer}: {message}", errors=(FieldError(pointer, message),))


def invalid_body(error: ValidationError, raw: Any) -> InvalidRequest:
    """The error of a body that fails its model: a JSON pointer into `raw` for each wrong field."""
    fields: dict[str, str] = {}
    for problem in error.errors(include_url=False, include_input=False, include_context=False):
        pointer = _pointer(problem["loc"], problem["type"], raw)
        message = problem["msg"].removeprefix("Value error, ")
        fields[pointer] = f"{fields[pointer]}; or: {message}" if pointer in fields else message
    # Of a union, the branch that got further in tells more.
    deepest = {p: message for p, message in fields.items() if not any(q.startswith(f"{p}/") for q in fields)}
    detail = "; ".join(f"{pointer or 'the body'}: {message}" for pointer, message in list(deepest.items())[:3])
    return InvalidRequest(detail, errors=tuple(FieldError(pointer, message) for pointer, message in deepest.items()))


def _pointer(loc: tuple[int | str, ...], kind: str, raw: Any) -> str:
    """The JSON pointer of a pydantic location: without the names of union branches, which `raw` does not have."""
    pointer, at = "", raw
    for step in loc:
        if isinstance(at, list) and isinstance(step, int):
            pointer, at = f"{pointer}/{step}", cast(list[Any], at)[step]
        elif isinstance(at, dict) and step in at:
            pointer, at = f"{pointer}/{escape(str(step))}", cast(dict[object, Any], at)[step]
    if kind == "missing":
        return f"{pointer}/{escape(str(loc[-1]))}"
    return f"{pointer}/role" if kind.startswith("union_tag") else pointer
