"""What `PATCH /threads/{threadId}` takes."""

from __future__ import annotations

import unicodedata
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agui_app.api.run_input import invalid_body, one_field

TITLE_MAX_LENGTH = 200


class RenameInput(BaseModel):
    """A thread's new title. It is made one line: white space folded, control characters left out."""

    model_config = ConfigDict(extra="allow", strict=True)

    title: str = Field(description=f"1 to {TITLE_MAX_LENGTH} characters, once it is one line")


def read_title(raw: Any) -> str:
    """The title as one line.

    Raises: InvalidRequest: no title, none that can be seen, one that is too long.
    """
    try:
        given = RenameInput.model_validate({} if raw is None else raw).title
    except ValidationError as error:
        raise invalid_body(error, raw) from error
    letters = (" " if letter.isspace() else letter for letter in given)
    title = " ".join("".join(letter for letter in letters if unicodedata.category(letter) != "Cc").split())
    if all(unicodedata.category(letter) in ("Zs", "Cf") for letter in title):
        raise one_field("/title", "says nothing: it needs a character that can be seen")
    if len(title) > TITLE_MAX_LENGTH:
        raise one_field("/title", f"has {len(title)} characters; at most {TITLE_MAX_LENGTH} are kept")
    return title
