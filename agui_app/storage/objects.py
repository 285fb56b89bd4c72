"""The payload store: JSON objects under paths that the server made."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any, Protocol

from agui_app.errors import StoreUnavailable


class ObjectStore(Protocol):
    """Where payloads lie. Raises OSError for whatever goes wrong, FileNotFoundError for an object that is not there,
    ValueError for one that is no JSON object."""

    bucket: str

    async def put_json(self, path: str, payload: dict[str, Any]) -> None: ...
    async def get_json(self, path: str) -> dict[str, Any]: ...
    async def delete(self, path: str) -> None:
        """The object is gone, also when it was not there."""
        ...

    async def check(self) -> None:
        """Nothing when the store answers. Raises StoreUnavailable."""
        ...


class FolderStore:
    """Objects as files under a folder. A file is whole or not there: written aside, synced, renamed."""

    def __init__(self, root: Path, bucket: str = "local"):
        self.root = root
        self.bucket = bucket

    async def put_json(self, path: str, payload: dict[str, Any]) -> None:
        await asyncio.to_thread(self._put, path, payload)

    async def get_json(self, path: str) -> dict[str, Any]:
        return await asyncio.to_thread(self._get, path)

    async def delete(self, path: str) -> None:
        await asyncio.to_thread(self._file(path).unlink, missing_ok=True)

    async def check(self) -> None:
        try:
            await asyncio.to_thread(self._check)
        except OSError as error:
            raise StoreUnavailable("The payload folder cannot be written") from error

    def _file(self, path: str) -> Path:
        file = (self.root / path).resolve()
        if not file.is_relative_to(self.root.resolve()):
            raise ValueError(f"{path!r} leads out of the payload folder; paths are made by the server")
        return file

    def _put(self, path: str, payload: dict[str, Any]) -> None:
        file = self._file(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        aside = file.with_name(f".{file.name}.{os.getpid()}.part")
        try:
            with aside.open("w", encoding="utf-8") as out:
                json.dump(payload, out, ensure_ascii=False, separators=(",", ":"))
                out.flush()
                os.fsync(out.fileno())
            os.replace(aside, file)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise

    def _get(self, path: str) -> dict[str, Any]:
        payload = json.loads(self._file(path).read_text(encoding="utf-8"))
        if not isinstance(payload, dict):
            raise ValueError(f"the object at {path!r} is no JSON object")
        return payload  # pyright: ignore[reportUnknownVariableType]

    def _check(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        probe = self.root / f".check.{os.getpid()}"
        probe.write_text("ok", encoding="utf-8")
        probe.unlink(missing_ok=True)
