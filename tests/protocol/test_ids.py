from __future__ import annotations

import pytest

from agui_app.protocol.ids import derived_id, is_valid_id, new_id


@pytest.mark.parametrize("value", ["a", "A-z0.9_:@~-", "x" * 128, "..."])
def test_a_valid_id(value: str):
    assert is_valid_id(value)


@pytest.mark.parametrize("value", ["", ".", "..", "x" * 129, "a b", "a/b", "é", "a\n", "a\x00", 7, None])
def test_no_valid_id(value: object):
    assert not is_valid_id(value)


def test_new_ids_are_valid_and_differ():
    made = {new_id("run") for _ in range(50)}
    assert len(made) == 50
    assert all(is_valid_id(id) and id.startswith("run_") for id in made)


def test_a_derived_id_joins_its_parts():
    assert derived_id("r1", "c1") == "r1.c1"


@pytest.mark.parametrize("parts", [("r1", "a b"), ("r" * 128, "c" * 128), ("", ""), (".",), ("r1", "\ud800")])
def test_a_derived_id_is_always_valid_and_always_the_same(parts: tuple[str, ...]):
    assert is_valid_id(derived_id(*parts))
    assert derived_id(*parts) == derived_id(*parts)


def test_mended_ids_of_different_parts_differ():
    assert derived_id("r1", "a b") != derived_id("r1", "a/b")
