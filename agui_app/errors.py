"""The errors of the program: one tree, each with a stable code and an HTTP status.

A message says the rule that was broken, the value, and the cure. `ERROR_CODES` is the documented list
that problem+json and RUN_ERROR draw their `code` from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class FieldError:
    """One wrong field: `pointer` is a JSON pointer (RFC 6901) into the request body, or a parameter's name."""

    pointer: str
    message: str


class AguiError(Exception):
    """Every error that the program raises on purpose."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500
    title: ClassVar[str] = "Internal error"

    def __init__(self, detail: str, *, errors: tuple[FieldError, ...] = (), extra: dict[str, object] | None = None):
        super().__init__(detail)
        self.detail = detail
        self.errors = errors
        self.extra: dict[str, object] = extra or {}
        """Further members of the problem document, such as `activeRunId`."""


class MalformedJson(AguiError):
    code, status, title = "malformed_json", 400, "Malformed JSON"


class BadCursor(AguiError):
    code, status, title = "invalid_cursor", 422, "Invalid cursor"


class InvalidRequest(AguiError):
    code, status, title = "invalid_request", 422, "Invalid request"


class ForeignOrigin(AguiError):
    code, status, title = "foreign_origin", 403, "Foreign origin"


class NotFound(AguiError):
    code, status, title = "not_found", 404, "Not found"


class MethodNotAllowed(AguiError):
    code, status, title = "method_not_allowed", 405, "Method not allowed"


class RunActive(AguiError):
    code, status, title = "run_active", 409, "A run is active"


class RunConflict(AguiError):
    code, status, title = "run_conflict", 409, "The run id is taken"


class TooLarge(AguiError):
    code, status, title = "too_large", 413, "Too large"


class UnsupportedMediaType(AguiError):
    code, status, title = "unsupported_media_type", 415, "Unsupported media type"


class MisdirectedRequest(AguiError):
    code, status, title = "foreign_host", 421, "Foreign host"


class TooManyRequests(AguiError):
    code, status, title = "too_many_requests", 429, "Too many requests"


class StoreUnavailable(AguiError):
    code, status, title = "store_unavailable", 503, "Store unavailable"


class SettingsError(AguiError):
    """A setting that cannot be used; the message names its variable."""

    code, title = "bad_setting", "Bad setting"


class ToolError(AguiError):
    """A tool call that was not carried out; `code` per instance: unknown_tool, invalid_arguments, timeout, failed."""

    code, status, title = "tool_failed", 500, "Tool failed"

    def __init__(self, detail: str, *, tool_code: str = "failed"):
        super().__init__(detail)
        self.tool_code = tool_code


def _subclasses(cls: type[AguiError]) -> list[type[AguiError]]:
    return [cls, *(sub for child in cls.__subclasses__() for sub in _subclasses(child))]


ERROR_CODES: dict[str, str] = {cls.code: cls.title for cls in _subclasses(AguiError)}
"""Code -> title, every code that a problem document can carry."""
