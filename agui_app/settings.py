"""Every setting of the program: environment variables or `.env`, typed, with units in the names."""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from agui_app.errors import SettingsError

ENV_PREFIX = "AGUI_"
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")

CommaList = Annotated[tuple[str, ...], NoDecode]


class Settings(BaseSettings):
    """The settings. A field's description is the line of the README's table."""

    model_config = SettingsConfigDict(
        env_prefix=ENV_PREFIX, env_file=".env", env_file_encoding="utf-8", extra="ignore", frozen=True
    )

    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(3000, ge=1, le=65535, description="port of the page and the API")
    data_dir: Path = Field(Path(".agui"), description="folder of the database and the payloads")
    database_url: str = Field("", description="SQLAlchemy URL; empty: SQLite in the data folder")
    storage_url: str = Field("", description="object store of the payloads; empty: a folder in the data folder")
    agent: str = Field(
        "rules", description="who answers: `rules` (no key, no network), or `module:name` of an agent of your own"
    )
    auth: Literal["none"] = Field("none", description="who may sign in; `none`: one local user")
    allow_insecure: bool = Field(False, description="listen beyond loopback although nobody signs in")
    allowed_origins: CommaList = Field((), description="origins of other pages that may call, comma-separated")
    allowed_hosts: CommaList = Field((), description="host names that this server answers to, besides loopback")
    api_url: str = Field(
        "",
        description="where the page finds the API, which must allow the page's origin; empty: in its own process",
    )
    timezone: str = Field("", description="IANA zone for readers that send none; empty: the system's")
    event_retention: float = Field(86_400, gt=0, description="seconds that events of finished runs are kept")
    flush_interval_s: float = Field(
        0.033, ge=0.005, le=1, description="seconds of text that one frame of a stream gathers"
    )
    run_timeout_s: float = Field(600, gt=0, description="seconds after which a run is ended")
    tool_timeout_s: float = Field(30, gt=0, description="seconds that a tool may take")
    max_tool_rounds: int = Field(10, ge=1, le=100, description="rounds of tool calls in one run")
    keepalive_s: float = Field(15, gt=0, description="seconds of silence after which a stream sends a comment")
    max_body_bytes: int = Field(8_000_000, ge=1_000, description="bytes of a request's body")
    max_message_chars: int = Field(4_000_000, ge=1, description="characters of the text of a message that is sent")
    max_input_messages: int = Field(10_000, ge=1, description="messages in one request to run")
    max_input_tools: int = Field(500, ge=0, description="tools that a client may bring along in one request to run")
    max_tool_schema_chars: int = Field(100_000, ge=2, description="characters of such a tool's schema, as JSON")
    max_arguments_chars: int = Field(1_000_000, ge=2, description="characters of the arguments of one tool call")
    max_run_chars: int = Field(
        50_000_000, ge=1_000, description="characters that an agent may say in one run, everything counted"
    )
    max_open_streams: int = Field(1_000, ge=1, description="event streams that one caller may hold open")
    rules_token_delay_s: float = Field(
        0.012, ge=0, le=1, description="seconds between the pieces of the rule agent's answers"
    )

    @field_validator("allowed_origins", "allowed_hosts", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("allowed_origins", "allowed_hosts")
    @classmethod
    def _no_wildcard(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if any("*" in entry for entry in value):
            raise ValueError("name each one; * is not understood, as it would let every web site in")
        return value

    @field_validator("timezone")
    @classmethod
    def _zone_exists(cls, value: str) -> str:
        if value:
            try:
                ZoneInfo(value)
            except (ZoneInfoNotFoundError, ValueError) as error:
                raise ValueError(f"{value!r} is no IANA time zone, such as Europe/Berlin") from error
        return value

    @model_validator(mode="after")
    def _loopback_without_auth(self) -> Settings:
        if self.auth == "none" and not self.allow_insecure and not is_loopback(self.host):
            raise ValueError(
                f"AGUI_HOST={self.host} is reachable by others and nobody signs in; "
                "listen on 127.0.0.1 or set AGUI_ALLOW_INSECURE=1"
            )
        return self

    @property
    def resolved_database_url(self) -> str:
        """The async SQLAlchemy URL in use."""
        return self.database_url or f"sqlite+aiosqlite:///{self.data_dir.resolve() / 'agui.db'}"

    @property
    def payload_dir(self) -> Path:
        """The folder of the embedded payload store."""
        return self.data_dir / "payloads"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def load_settings() -> Settings:
    """The settings of this process.

    Raises: SettingsError: one line that names the variable and the value.
    """
    try:
        return Settings()  # pyright: ignore[reportCallIssue]
    except ValidationError as error:
        first = error.errors()[0]
        where = ENV_PREFIX + "_".join(str(part) for part in first["loc"]).upper() if first["loc"] else ""
        reason = str(first["msg"]).removeprefix("Value error, ")
        raise SettingsError(f"{where}={first['input']!r}: {reason}" if where else reason) from error


@lru_cache
def settings() -> Settings:
    """The settings of this process, read once."""
    return load_settings()
