"""Who follows what."""

import asyncio

import anyio
import pytest

from agui_app.state import followers


@pytest.fixture(autouse=True)
def every_tab_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """The composed application, which another test may have made, knows none of these tabs."""
    monkeypatch.setattr(followers, "_is_open", lambda tab: True)


async def follow(tab: str, thread_id: str, started: asyncio.Event) -> str:
    """Follows until stopped."""
    with followers.following(tab, thread_id):
        started.set()
        await anyio.sleep_forever()
    return "stopped"


async def started_follower(tab: str, thread_id: str) -> asyncio.Task[str]:
    started = asyncio.Event()
    task = asyncio.create_task(follow(tab, thread_id, started))
    await started.wait()
    return task


async def test_a_tab_follows_one_thread_at_a_time() -> None:
    first = await started_follower("tab", "a")
    second = await started_follower("tab", "b")
    assert await first == "stopped"
    assert followers.followed("tab") == "b"
    followers.stop("tab")
    assert await second == "stopped"
    assert followers.followed("tab") is None


async def test_tabs_do_not_stop_each_other() -> None:
    first, second = await started_follower("one", "a"), await started_follower("two", "a")
    followers.stop("one")
    assert await first == "stopped"
    assert followers.count() == 1
    followers.stop_all()
    assert await second == "stopped"
    assert followers.count() == 0


async def test_a_follower_that_fails_leaves_nothing_behind() -> None:
    with pytest.raises(ValueError, match="gone"), followers.following("tab", "a"):
        raise ValueError("gone")
    assert followers.count() == 0


def test_stopping_a_tab_that_follows_nothing_does_nothing() -> None:
    followers.stop("nobody")
    assert followers.count() == 0


async def test_a_tab_follows_the_changes_beside_its_thread_and_leaves_both() -> None:
    thread, changes = await started_follower("tab", "a"), await started_follower("tab", followers.CHANGES)
    assert followers.count() == 2
    assert followers.followed("tab") == "a"
    assert followers.follows_changes("tab")
    followers.leave("tab")
    assert [await thread, await changes] == ["stopped", "stopped"]
    assert followers.count() == 0


async def test_a_tab_that_has_closed_before_its_follower_starts_follows_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(followers, "_is_open", lambda tab: tab != "closed")
    with followers.following("closed", "a") as scope:
        await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert followers.count() == 0
