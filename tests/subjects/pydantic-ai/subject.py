"""pydantic-ai: what each step of an agent's run makes of the history before it asks the model.

Called as `ModelRequestNode` of _agent_graph.py calls them: `_clean_message_history` of messages.py (public name:
`repair_messages`; drops orphaned results, repairs dangling calls, merges), `prepare_messages` of the model, once more the
former where the latter changed something, then `OpenAIResponsesModel._map_messages` of models/openai/_responses_model.py,
which gives the `input` of the request.

What a model said in a row becomes one `ModelResponse`, what it was told in a row one `ModelRequest`, as a run records
them. A developer's message is a `SystemPromptPart`.

`subject.py plain|bars`: a bar in a call id is the package's own notation of earlier versions, for a call id and an item id;
`plain` refuses histories that have one, `bars` sends them.
"""

import asyncio
import json
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), name) for name in ("../../../clients/python", "..")]
import callpair_subject
import carry

from importlib.metadata import version

from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
    repair_messages,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

model = OpenAIResponsesModel("gpt-5", provider=OpenAIProvider(api_key="none"))
parameters = ModelRequestParameters()
loop = asyncio.new_event_loop()


def forth(history):
    messages = []
    names = {}
    for item in history:
        by_model = item["type"] == "function_call" or item.get("role") == "assistant"
        kind = ModelResponse if by_model else ModelRequest
        if not messages or type(messages[-1]) is not kind:
            messages.append(kind(parts=[]))
        messages[-1].parts.append(part_of(item, names))
    return messages


def part_of(item, names):
    if item["type"] == "function_call":
        names[item["call_id"]] = item["name"]
        arguments = json.dumps(carry.arguments_of(item))
        return ToolCallPart(tool_name=item["name"], args=arguments, tool_call_id=item["call_id"])
    if item["type"] == "function_call_output":
        # A result must name its tool; an orphan's is unknown.
        name = names.get(item["call_id"], "unknown")
        return ToolReturnPart(tool_name=name, content=carry.result_of(item), tool_call_id=item["call_id"])
    text = carry.text_of(item)
    parts = {"assistant": TextPart, "user": UserPromptPart, "developer": SystemPromptPart}
    return parts[item["role"]](content=text)


def prepare(messages):
    cleaned = repair_messages(messages)
    prepared = model.prepare_messages(cleaned, parameters)
    if prepared is not cleaned:
        prepared = repair_messages(prepared)
    _, body = loop.run_until_complete(model._map_messages(prepared, {}, parameters))
    return body


def back_from_body(body):
    items = []
    for item in body:
        if item.get("type") == "function_call":
            items.append(carry.call_of(item["call_id"], item["name"], json.loads(item["arguments"])))
        elif item.get("type") == "function_call_output":
            items.append(carry.output_of(item["call_id"], item["output"]))
        else:
            role = "developer" if item["role"] == "system" else item["role"]
            items.append(carry.message_of(role, item["content"]))
    return items


def back_from_messages(messages):
    return [item_of(part) for message in messages for part in message.parts]


def item_of(part):
    if isinstance(part, ToolCallPart):
        return carry.call_of(part.tool_call_id, part.tool_name, json.loads(part.args))
    if isinstance(part, ToolReturnPart):
        return carry.output_of(part.tool_call_id, part.content)
    roles = {TextPart: "assistant", UserPromptPart: "user", SystemPromptPart: "developer"}
    return carry.message_of(roles[type(part)], part.content)


def project(history, modalities):
    if sys.argv[1] == "plain" and any("|" in item.get("call_id", "") for item in history):
        raise callpair_subject.Refused("a call id with a bar is two ids in one")
    return carry.projected(history, forth, prepare, back_from_body, back_from_messages)


callpair_subject.serve(
    project, name=f"pydantic-ai, {sys.argv[1]} call ids", version=version("pydantic-ai-slim"), kinds=carry.KINDS
)
