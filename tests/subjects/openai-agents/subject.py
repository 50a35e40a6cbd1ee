"""openai-agents: the input that a run makes of a session's history and a new message.

`prepare_input_with_session` of run_internal/session_persistence.py (drops calls without an output and the reasoning
before them, and doubled items), then `prepare_model_input_items` of run_internal/items.py, as `Runner.run` calls them. The
items of this package are those of the Responses API, so nothing is converted. The new message, which must come last, is
left out of what comes back. Two items of one kind with one id are legal on no API, and this package keeps the later one
(`deduplicate_input_items_preferring_latest`); a history that has such is refused.

`subject.py unlimited|limited`: without and with `SessionSettings(limit=5)`, which keeps the latest items.
"""

import asyncio
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../clients/python"))
import callpair_subject

from importlib.metadata import version

from agents import SessionSettings
from agents.memory import SessionABC
from agents.run_internal.items import prepare_model_input_items
from agents.run_internal.session_persistence import prepare_input_with_session

PROMPT = {"role": "user", "content": "callpair: go on"}

# Left out: `local_shell_call`, whose output here is the public API's `local_shell_call_output`, a kind that callpair does
# not have; and Codex's own kinds.
KINDS = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
    "image_generation_call",
    "compaction",
    "additional_tools",
]


class ListSession(SessionABC):
    """A session that hands out the history itself, as the documentation's own example of a session does."""

    session_id = "callpair"
    session_settings = SessionSettings(limit=5) if sys.argv[1] == "limited" else None

    def __init__(self, items):
        self.items = items

    async def get_items(self, limit=None):
        return list(self.items) if limit is None else self.items[-limit:]

    async def add_items(self, items):
        self.items += items

    async def pop_item(self):
        return self.items.pop() if self.items else None

    async def clear_session(self):
        self.items.clear()


loop = asyncio.new_event_loop()


def project(history, modalities):
    others = [item for item in history if item["type"] != "message" and item.get("call_id") is None]
    named = [(item["type"], item["id"]) for item in others if item.get("id") is not None]
    if len(set(named)) < len(named):
        raise callpair_subject.Refused("two items of one kind with one id are legal on no API")
    session = ListSession(history)
    prepared, _ = loop.run_until_complete(prepare_input_with_session([PROMPT], session, None))
    *items, prompt = prepare_model_input_items(prepared)
    assert prompt == PROMPT, "the new message is not the last item"
    return items


callpair_subject.serve(
    project, name=f"openai-agents, {sys.argv[1]} session", version=version("openai-agents"), kinds=KINDS
)
