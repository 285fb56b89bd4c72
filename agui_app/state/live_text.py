"""Text that grows, cut into blocks so that a push carries only what is new.

Reflex sends the whole value of a changed var. A block is one var: the newest is sent again with every push until it
holds `SMALL_CHARS`, then never again, but once when small blocks are merged. Joined in order the blocks are the text.
"""

from __future__ import annotations

LARGE_BLOCKS = 16
SMALL_BLOCKS = 16
SMALL_CHARS = 160  # shorter: more merges; longer: more bytes sent again with every push
BLOCKS = LARGE_BLOCKS + SMALL_BLOCKS

Blocks = tuple[str, ...]
EMPTY: Blocks = ("",) * BLOCKS


def grow(blocks: Blocks, text: str) -> Blocks:
    """`blocks` whose join is `text`; only blocks whose content has to change do."""
    shown = "".join(blocks)
    if not text.startswith(shown):
        return _append(list(EMPTY), text)
    added = text[len(shown) :]
    return _append(list(blocks), added) if added else blocks


def _append(blocks: list[str], added: str) -> Blocks:
    last = _last_used(blocks)
    if last >= LARGE_BLOCKS and len(blocks[last]) < SMALL_CHARS:
        blocks[last] += added
    elif last < BLOCKS - 1:
        blocks[max(last + 1, LARGE_BLOCKS)] = added
    else:
        _merge(blocks)
        blocks[LARGE_BLOCKS] = added
    return tuple(blocks)


def _merge(blocks: list[str]) -> None:
    """Join the small blocks into the next free large one; when none is free, everything into the first."""
    large = blocks[:LARGE_BLOCKS]
    free = next((i for i, block in enumerate(large) if not block), None)
    small = "".join(blocks[LARGE_BLOCKS:])
    if free is None:
        blocks[:LARGE_BLOCKS] = ["".join(large) + small, *EMPTY[1:LARGE_BLOCKS]]
    else:
        blocks[free] = small
    blocks[LARGE_BLOCKS:] = [""] * SMALL_BLOCKS


def _last_used(blocks: list[str]) -> int:
    return next((i for i in range(BLOCKS - 1, -1, -1) if blocks[i]), -1)
