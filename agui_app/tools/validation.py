"""Arguments of a call, checked against the tool's JSON Schema (2020-12) and completed."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any, NoReturn, cast

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError

from agui_app.errors import ToolError
from agui_app.protocol.sanitise import sanitise

FORMATS = FormatChecker(["date", "date-time", "email", "uuid"])
"""The formats that are rules; elsewhere JSON Schema takes `format` as a remark. A name that cannot be checked here
is a KeyError at import: `date-time` needs rfc3339-validator."""

_LOCAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?")
_ERRORS_TOLD = 5
_MESSAGE_MAX_LENGTH = 300  # a rule with the value that broke it; the value may be a whole book


@FORMATS.checks("date-time-local", raises=ValueError)
def is_local_date_time(value: object) -> bool:
    """Whether a text is a date and a time without an offset (the format registry's date-time-local)."""
    if not isinstance(value, str):
        return True
    return _LOCAL.fullmatch(value) is not None and bool(datetime.fromisoformat(value))


def invalid_arguments(argument: str, rule: str) -> ToolError:
    """The error of a call whose argument breaks a rule; its message names both."""
    return ToolError(f"'{argument}': {_shortened(rule)}", tool_code="invalid_arguments")


def read_arguments(args_text: str) -> object:
    """The JSON value of `args_text`, its texts made sound; no text at all is an empty object.

    Raises: ToolError, code invalid_json.
    """
    if not args_text.strip():
        return {}
    try:
        return sanitise(json.loads(args_text, parse_constant=_no_constant))
    except (ValueError, RecursionError) as error:
        raise ToolError(f"the arguments are not valid JSON: {error}", tool_code="invalid_json") from error


def checked_arguments(schema: dict[str, Any], args: object) -> dict[str, Any]:
    """A copy of `args` that keeps the schema, with its defaults filled in.

    Raises: ToolError, code invalid_arguments: the message names the argument and the rule.
    """
    if not isinstance(args, dict):
        raise ToolError("the arguments must be a JSON object", tool_code="invalid_arguments")
    given = cast("dict[str, Any]", args)
    told = [_told(error) for error in islice(_errors(schema, given), _ERRORS_TOLD)]
    if told:
        raise ToolError("; ".join(told), tool_code="invalid_arguments")
    return _with_defaults(schema, copy.deepcopy(given))


def _errors(schema: dict[str, Any], args: dict[str, Any]) -> Iterator[ValidationError]:
    return Draft202012Validator(schema, format_checker=FORMATS).iter_errors(args)  # pyright: ignore[reportUnknownMemberType]


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _told(error: ValidationError) -> str:
    where = ".".join(str(part) for part in error.path)
    return f"'{where}': {_shortened(_rule(error))}" if where else _shortened(error.message)


def _rule(error: ValidationError) -> str:
    branches = cast("list[dict[str, str]]", error.validator_value if error.validator == "anyOf" else [])
    if branches and all("format" in branch for branch in branches):
        return f"{error.instance!r} is none of {', '.join(branch['format'] for branch in branches)}"
    return error.message


def _shortened(message: str) -> str:
    """The two ends of a long message: the value begins it, the rule ends it."""
    half = _MESSAGE_MAX_LENGTH // 2
    return message if len(message) <= _MESSAGE_MAX_LENGTH else f"{message[:half]}…{message[-half:]}"


def _with_defaults(schema: dict[str, Any], args: dict[str, Any]) -> dict[str, Any]:
    for name, property_schema in cast("dict[str, dict[str, Any]]", schema.get("properties", {})).items():
        if name not in args and "default" in property_schema:
            args[name] = copy.deepcopy(property_schema["default"])
        elif isinstance(args.get(name), dict):
            args[name] = _with_defaults(property_schema, args[name])
    return args
