"""A calendar in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine

from agui_app.storage.calendar import CalendarEvent


@pytest.fixture
async def session() -> AsyncIterator[AsyncSession]:
    engine = create_async_engine("sqlite+aiosqlite://")
    async with engine.begin() as connection:
        await connection.run_sync(CalendarEvent.__table__.create)  # pyright: ignore
    async with AsyncSession(engine) as session:
        yield session
    await engine.dispose()
