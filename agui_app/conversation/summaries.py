"""One line for a tool result: what is stored as the message's content and drawn as the row's text.

Pure, and nothing here ever raises: the values come from agents and tools of anybody.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from types import MappingProxyType
from typing import NamedTuple, cast

import regex

SUMMARY_VERSION = 1
"""Stored with every summary, so that a later set of rules can tell old lines from new ones."""

SUMMARY_MAX_LENGTH = 200
"""Code points of a summary, the ellipsis included."""

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")
_GRAPHEME = regex.compile(r"\X")

_TITLE = ("title",)
_START = ("start_time", "startTime", "start_at", "startAt")
_ID = ("id", "event_id", "eventId", "user_id", "userId")
_RANGE = ("date_range", "dateRange")
_COMMON = ("message", "summary", "text", "title", "name", "status", "id")
_COMMON_MOST = 3


class _Phrases(NamedTuple):
    failed_with: str
    failed: str
    done: str
    created: str
    updated: str
    found_one: str
    found: str
    deleted: str
    shared: str
    matched: str
    aside: str
    joint: str


_ZH = _Phrases(
    failed_with="{} 执行失败：{}",
    failed="{} 执行失败",
    done="{} 执行完成",
    created="已创建日程：{}",
    updated="已更新日程：{}",
    found_one="查询到 {} 条日程",
    found="查询到 {} 条日程",
    deleted="已删除日程：{}",
    shared="已分享日程给 {}",
    matched="已匹配用户：{}",
    aside="（{}）",
    joint="；",
)
_EN = _Phrases(
    failed_with="{} failed: {}",
    failed="{} failed",
    done="{} done",
    created="Created event: {}",
    updated="Updated event: {}",
    found_one="Found {} event",
    found="Found {} events",
    deleted="Deleted event: {}",
    shared="Shared event with {}",
    matched="Matched user: {}",
    aside=" ({})",
    joint="; ",
)


class _Call(NamedTuple):
    args: object
    result: object
    phrases: _Phrases

    def value(self, *groups: tuple[str, ...]) -> str | None:
        """The first value under one of the names: a group of names at a time, the result before the arguments."""
        for names in groups:
            for source in (self.result, self.args):
                for name in names:
                    if (found := _scalar(_member(source, name))) is not None:
                        return found
        return None

    def aside(self, value: str | None) -> str:
        return "" if value is None else self.phrases.aside.format(value)


def build_tool_content_summary(
    tool_name: object, args: object, result: object, error: object, locale: object = "zh"
) -> str:
    """What a call did, in one line of at most SUMMARY_MAX_LENGTH code points, never blank."""
    phrases, name = _ZH, "tool"
    try:
        name = _scalar(tool_name) or name
        phrases = _phrases(locale)
        return _clean(_summary(name, _Call(args, result, phrases), error))
    except Exception:  # a value whose own methods raise: its text cannot be had
        return _clean((phrases.done if error is None else phrases.failed).format(name))


def item_text(
    content: object, tool_name: object, args: object, result: object, error: object, locale: object = "zh"
) -> str:
    """The text of a tool result's row: `content` when a reader can take it as it is, else a summary of it.

    `content` is None (older form: `result` holds it all), text, or a list of AG-UI parts.
    """
    try:
        text = _content_text(content)
        if text is not None and not _is_blank(text):
            if _is_plain_line(text):
                return text
            result = _parse(text)
        elif text is None and content is not None:
            result = content
    except Exception:  # as above
        result = None
    return build_tool_content_summary(tool_name, args, result, error, locale)


def _phrases(locale: object) -> _Phrases:
    return _EN if isinstance(locale, str) and locale.lower().startswith("en") else _ZH


def _summary(name: str, call: _Call, error: object) -> str:
    phrases = call.phrases
    if _is_set(error):
        message = _error_message(error)
        return phrases.failed.format(name) if message is None else phrases.failed_with.format(name, message)
    failed = _member(call.result, "ok") is False
    template = None if failed else _TEMPLATES.get(name)
    line = (template(call) if template else None) or _generic(call)
    return line or (phrases.failed if failed else phrases.done).format(name)


def _is_set(error: object) -> bool:
    if error is None or error is False:
        return False
    return not (isinstance(error, str | Mapping | list | tuple) and len(cast("str", error)) == 0)


def _error_message(error: object) -> str | None:
    if not isinstance(error, Mapping):
        return None if isinstance(error, bool) else _scalar(error)
    for key in ("message", "error", "code"):
        value = _member(cast("object", error), key)
        # one level deeper, for {"error": {"message": ...}}
        message = _scalar(value) or _scalar(_member(value, "message"))
        if message is not None:
            return message
    return None


def _written(call: _Call) -> str | None:
    title = call.value(_TITLE)
    if title is None:
        return None
    start = call.value(_START)
    phrase = call.phrases.updated if _member(call.result, "action") == "updated" else call.phrases.created
    return phrase.format(title) + call.aside(None if start is None else _time(start))


def _read(call: _Call) -> str | None:
    count = call.value(("count",))
    if count is None:
        return None
    phrase = call.phrases.found_one if count == "1" else call.phrases.found
    return phrase.format(count) + call.aside(call.value(_RANGE))


def _deleted(call: _Call) -> str | None:
    what = call.value(_TITLE, _ID)
    return None if what is None else call.phrases.deleted.format(what)


def _shared(call: _Call) -> str | None:
    target = call.value(("target",))
    return None if target is None else call.phrases.shared.format(target)


def _matched(call: _Call) -> str | None:
    who = call.value(("name",), _ID)
    return None if who is None else call.phrases.matched.format(who)


_TEMPLATES: Mapping[str, Callable[[_Call], str | None]] = MappingProxyType(
    {
        "calendar_write": _written,
        "create_calendar_event": _written,
        "calendar_read": _read,
        "calendar_delete": _deleted,
        "calendar_share": _shared,
        "user_resolve": _matched,
    }
)


def _generic(call: _Call) -> str | None:
    result = call.result
    if not isinstance(result, Mapping):
        return {True: "true", False: "false"}[result] if isinstance(result, bool) else _scalar(result)
    content = _member(cast("object", result), "content")
    if isinstance(content, str) and not _is_blank(content) and not _is_json_container(content):
        return content
    values = (_scalar(_member(cast("object", result), key)) for key in _COMMON)
    found = [value for value in values if value is not None]
    return call.phrases.joint.join(found[:_COMMON_MOST]) or None


def _member(source: object, key: str) -> object:
    return cast("Mapping[str, object]", source).get(key) if isinstance(source, Mapping) else None


def _scalar(value: object) -> str | None:
    """`value` as text when it is non-blank text or a finite number; None otherwise, for booleans too."""
    if isinstance(value, str):
        return None if _is_blank(value) else value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return None if isinstance(value, float) and not math.isfinite(value) else str(value)


def _is_blank(text: str) -> bool:
    return not _CONTROLS.sub(" ", text).strip()


def _time(text: str) -> str:
    """A time as its own clock shows it; a date stays a date, and what is no time stays as it is."""
    text = text.strip()
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    try:
        return datetime.fromisoformat(text.upper()).replace(tzinfo=None).isoformat(sep=" ", timespec="minutes")
    except ValueError:
        return text


def _clean(text: str) -> str:
    line = " ".join(_SURROGATES.sub("\ufffd", _CONTROLS.sub(" ", text)).split())
    if len(line) <= SUMMARY_MAX_LENGTH:
        return line
    room = SUMMARY_MAX_LENGTH - 1
    # whether a cluster ends at a place depends on one code point after it: no more of a huge text is looked at
    ends = (cluster.end() for cluster in _GRAPHEME.finditer(line[: SUMMARY_MAX_LENGTH + 1]))
    return line[: max((end for end in ends if end <= room), default=0)] + "…"


def _content_text(content: object) -> str | None:
    """The text of `content`; None when it has none."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list | tuple):
        return None
    texts = [_member(part, "text") for part in cast("list[object]", content) if _member(part, "type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str)) if texts else None


def _is_plain_line(text: str) -> bool:
    return len(text) <= SUMMARY_MAX_LENGTH and text.splitlines() == [text] and not _is_json_container(text)


def _is_json_container(text: str) -> bool:
    return text.lstrip()[:1] in {"{", "["} and _parse(text) is not text


def _parse(text: str) -> object:
    """The JSON value in `text`; `text` itself when it is no JSON; None when it is JSON that cannot be read here."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
    except (ValueError, RecursionError):  # a number of thousands of digits; thousands of brackets
        return None
