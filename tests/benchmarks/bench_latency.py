"""From the agent's write to the text in the DOM, through the whole product, with 0 and with 2,000 stored messages.

Run by `make bench`. Both cases are measured in one run, by turns, with clocks of one machine; nothing is asserted.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Page, async_playwright, expect

from tests.benchmarks.agent import TOKENS, WRITTEN_FILE
from tests.e2e import browser as browsers
from tests.e2e.server import Server, running
from tests.e2e.talk import Wire, run_bytes, say, seed, settled

AGENT = "tests.benchmarks.agent:SteadyAgent"
STORED = (0, 2_000)
ROUNDS = 3
TOKEN_CHARS = 4

WATCH = """() => {
  window.seen = [];
  const log = document.querySelector('[role=log]');
  new MutationObserver(() => {
    const rows = log.querySelectorAll('[data-item-id]');
    const length = rows.length ? rows[rows.length - 1].textContent.length : 0;
    window.seen.push([length, performance.timeOrigin + performance.now()]);
  }).observe(log, { childList: true, subtree: true, characterData: true });
}"""


@dataclass(frozen=True)
class Measured:
    """One answer."""

    latencies_ms: list[float]
    carried_bytes: int
    sse_bytes: int


async def measure(page: Page, server: Server, thread_id: str, written_file: Path) -> Measured:
    """Latency of every token of one answer."""
    wire = Wire()
    wire.listen(page)
    await page.goto(f"{server.url}/t/{thread_id}")
    await settled(page)
    before = await page.locator('[data-role="assistant"]').count()
    await page.evaluate(WATCH)
    wire.frames.clear()
    await say(page, "go")
    answers = page.locator('[data-role="assistant"]')
    await expect(answers).to_have_count(before + 1)
    await expect(answers.last).to_contain_text(f"{TOKENS - 1:03d}", timeout=60_000)
    await settled(page)
    seen: list[tuple[int, float]] = await page.evaluate("window.seen")
    written: list[float] = json.loads(written_file.read_text())
    latencies: list[float] = []
    position = next(i for i, (length, at) in enumerate(seen) if at >= written[0] * 1_000)
    for index, at in enumerate(written):
        while seen[position][0] < (index + 1) * TOKEN_CHARS - 1:
            position += 1
        latencies.append(seen[position][1] - at * 1_000)
    history = await page.evaluate(f"fetch('/api/v1/agent/runs/{thread_id}/history').then(r => r.json())")
    return Measured(latencies, wire.bytes(), run_bytes(server, thread_id, history["runs"][-1]["runId"]))


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "written.json"
        os.environ["PYTHONPATH"] = "."
        with running(Path(folder) / "server", AGUI_AGENT=AGENT, AGUI_BENCH_WRITTEN=str(written)) as server:
            for stored in STORED:
                if stored:
                    seed(server, f"stored-{stored}", stored)
            async with async_playwright() as playwright:
                chromium = await playwright.chromium.launch(
                    executable_path=browsers.on_path(), args=list(browsers.FLAGS)
                )
                print(f"{'stored':>7} {'median':>8} {'p95':>8} {'max':>8}   socket bytes / SSE bytes")
                for _ in range(ROUNDS):
                    for stored in STORED:
                        page = await chromium.new_page(locale="en-GB")
                        found = await measure(page, server, f"stored-{stored}", written)
                        cuts = statistics.quantiles(found.latencies_ms, n=20)
                        print(
                            f"{stored:>7} {statistics.median(found.latencies_ms):>6.1f}ms {cuts[18]:>6.1f}ms "
                            f"{max(found.latencies_ms):>6.1f}ms   {found.carried_bytes:,} / {found.sse_bytes:,} "
                            f"= {found.carried_bytes / found.sse_bytes:.2f}"
                        )
                        await page.close()
                await chromium.close()


if __name__ == "__main__":
    assert WRITTEN_FILE == "AGUI_BENCH_WRITTEN"
    asyncio.run(main())
