"""Older and sloppier forms of events, made into the form of AG-UI 1.0: on JSON objects, before validation."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from typing import Any, TypeAlias, cast

Obj: TypeAlias = dict[str, Any]
"""A JSON object."""

OURS = "agui-app"
"""The key of `metadata` under which this program notes what it knows about an event."""


def text_at(wire: Obj, key: str) -> str | None:
    """The text under `key`; None when there is none."""
    value = wire.get(key)
    return str.__str__(value) if isinstance(value, str) else None


def camel_keys(wire: Obj, aliases: Mapping[str, str]) -> Obj:
    """`wire` with snake_case names of known fields in camelCase; what stands there in camelCase wins."""
    renamed = {aliases[key]: value for key, value in wire.items() if key in aliases}
    return {**{key: value for key, value in wire.items() if key not in aliases}, **_preferring(wire, renamed)}


def _preferring(wire: Obj, renamed: Obj) -> Obj:
    return {key: wire.get(key, value) for key, value in renamed.items()}


def without_nulls(wire: Obj, optional: Container[str]) -> Obj:
    """`wire` without the optional fields that are null: AG-UI says nothing by leaving out."""
    return {key: value for key, value in wire.items() if value is not None or key not in optional}


def lift_extras(wire: Obj, names: Iterable[str]) -> Obj:
    """A tool result with `names` taken out of its metadata to the top level, where they are not there already."""
    metadata: Any = wire.get("metadata")
    if not isinstance(metadata, dict):
        return wire
    rest = dict(cast(Obj, metadata))
    lifted = {name: rest.pop(name) for name in names if name in rest}
    if not lifted:
        return wire
    kept: Obj = {"metadata": rest} if rest else {}
    return {**lifted, **{key: value for key, value in wire.items() if key != "metadata"}, **kept}


def mend_result(wire: Obj) -> Obj:
    """A tool result with the content that older servers leave out, and the ids that they leave to the reader."""
    mended = dict(wire)
    if "toolCallId" not in mended and isinstance(mended.get("callId"), str):
        mended["toolCallId"] = mended["callId"]
    if "messageId" not in mended and isinstance(mended.get("toolCallId"), str):
        mended["messageId"] = f"{mended['toolCallId']}.result"
    content = mended["content"] if mended.get("content") is not None else mended.get("result")
    mended["content"] = content_of(content)
    return mended


def content_of(value: object) -> Any:
    """Text and lists of parts as they are, nothing as empty text, other JSON as its text."""
    match value:
        case str():
            return value
        case None:
            return ""
        case list() if _are_parts(cast(list[object], value)):
            return cast(list[object], value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def _are_parts(values: list[object]) -> bool:
    return all(isinstance(value, dict) and isinstance(cast(Obj, value).get("type"), str) for value in values)
