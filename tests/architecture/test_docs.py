"""What the README says of the code is what the code says."""

from __future__ import annotations

import pytest

from tests.architecture.tables import README, TABLES, with_tables


def test_the_readme_has_the_tables_of_settings_and_errors_as_the_code_has_them() -> None:
    readme = README.read_text(encoding="utf-8")

    assert readme == with_tables(readme), "run `make docs`"


@pytest.mark.parametrize("name", TABLES)
def test_no_line_of_a_table_is_without_words(name: str) -> None:
    bare = [line for line in TABLES[name]().splitlines() if line.rstrip("| ").endswith(("None", "||"))]

    assert bare == []
