"""The README's tables, made from the code that they describe. `make docs` writes them; a test compares."""

from __future__ import annotations

from pathlib import Path

from pydantic_core import PydanticUndefined

from agui_app.errors import AguiError
from agui_app.settings import ENV_PREFIX, Settings

README = Path(__file__).parents[2] / "README.md"


def settings_table() -> str:
    """One line for each setting: its variable, its default, what it is."""
    lines = ["| variable | default | what it is |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        lines.append(f"| `{ENV_PREFIX}{name.upper()}` | {_shown(field.default)} | {field.description} |")
    return "\n".join(lines)


def errors_table() -> str:
    """One line for each code that a problem document can carry."""
    lines = ["| code | status | meaning |", "|---|---|---|"]
    for cls in sorted(_errors(AguiError), key=lambda cls: (cls.status, cls.code)):
        lines.append(f"| `{cls.code}` | {cls.status} | {cls.title} |")
    return "\n".join(lines)


def _errors(cls: type[AguiError]) -> list[type[AguiError]]:
    below = [sub for child in cls.__subclasses__() for sub in _errors(child)]
    return [cls, *below] if cls.__module__ == "agui_app.errors" else below


def _shown(default: object) -> str:
    if default is PydanticUndefined or default in ("", ()):
        return ""
    if isinstance(default, bool):
        return f"`{int(default)}`"
    return f"`{default:g}`" if isinstance(default, float) else f"`{default}`"


TABLES = {"settings": settings_table, "errors": errors_table}


def with_tables(text: str) -> str:
    """The README with every table as it should be."""
    for name, table in TABLES.items():
        start, end = f"<!-- {name} -->\n", f"\n<!-- /{name} -->"
        head, _, rest = text.partition(start)
        _, _, tail = rest.partition(end)
        assert tail, f"the README lacks the markers of the table {name!r}"
        text = head + start + table() + end + tail
    return text


if __name__ == "__main__":
    README.write_text(with_tables(README.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"{README.name}: {', '.join(TABLES)}")
