"""The folder of the payloads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agui_app.errors import StoreUnavailable
from agui_app.storage.objects import FolderStore


async def test_an_object_comes_back_as_it_was_put(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "payloads")
    payload = {"schema": "tool_result", "result": {"标题": "会议", "n": [1, None, 0.5]}}
    await store.put_json("a/b/c.json", payload)
    assert await store.get_json("a/b/c.json") == payload
    assert [path.name for path in (tmp_path / "payloads/a/b").iterdir()] == ["c.json"]


async def test_an_object_that_is_not_there_is_a_file_not_found_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await FolderStore(tmp_path).get_json("nothing.json")


@pytest.mark.parametrize("text", ["[1]", '{"cut', "", "nonsense"])
async def test_a_file_that_is_no_json_object_is_a_value_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(ValueError, match=r"JSON|Expecting|Unterminated"):
        await FolderStore(tmp_path).get_json("x.json")


async def test_a_path_never_leads_out_of_the_folder(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "payloads")
    with pytest.raises(ValueError, match="leads out"):
        await store.put_json("../elsewhere.json", {})
    assert not (tmp_path / "elsewhere.json").exists()


async def test_a_put_that_fails_leaves_the_old_object_and_nothing_else(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    await store.put_json("x.json", {"old": True})
    with pytest.raises(TypeError):
        await store.put_json("x.json", {"not json": object()})
    assert json.loads((tmp_path / "x.json").read_text()) == {"old": True}
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


async def test_deleting_is_done_also_when_nothing_is_there(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    await store.put_json("x.json", {})
    await store.delete("x.json")
    await store.delete("x.json")
    assert list(tmp_path.iterdir()) == []


async def test_a_check_makes_the_folder_and_leaves_nothing_in_it(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "deep/payloads")
    await store.check()
    assert list((tmp_path / "deep/payloads").iterdir()) == []


async def test_a_folder_that_cannot_be_made_is_an_unavailable_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable):
        await FolderStore(tmp_path / "file/payloads").check()
