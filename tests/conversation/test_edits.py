from __future__ import annotations

from agui_app.conversation.edits import active_run, free_id, merged_metadata
from agui_app.conversation.model import Conversation, Run


def test_metadata_is_added_to_what_is_known():
    assert merged_metadata(None, None) is None
    assert merged_metadata({"a": 1}, 7) == {"a": 1}
    assert merged_metadata({"a": 1}, {"b": 2, "agui-app": {}}) == {"a": 1, "b": 2}
    assert merged_metadata(None, {"agui-app": {}}) is None


def test_a_free_id_is_counted_up_until_it_is_free():
    assert free_id({"r.c", "r.c.2"}, "r", "c") == "r.c.3"


def test_the_active_run():
    assert active_run(Conversation(runs=(Run("r1"), Run("r2")), active_run_id="r2")) == Run("r2")
    assert active_run(Conversation(runs=(Run("r1"),))) is None
