"""litellm's sanitising of tool calls, which it does for Anthropic-shaped requests where `litellm.modify_params` is set:
`sanitize_messages_for_tool_calling` of litellm_core_utils/prompt_templates/factory.py, the first step of
`anthropic_messages_pt`.

Chat messages go in and come out. The function also replaces an empty text by a placeholder and says so (its case C); so
the texts of messages get a letter in front while they travel, and are never empty.
"""

import json
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), name) for name in ("../../../clients/python", "..")]
import callpair_subject
import carry

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
from importlib.metadata import version

import litellm
from litellm.litellm_core_utils.prompt_templates.factory import sanitize_messages_for_tool_calling

litellm.modify_params = True


def forth(history):
    return [message for kind, items in carry.turns(history) for message in messages_of(kind, items)]


def messages_of(kind, items):
    if kind == "outputs":
        return [
            {"role": "tool", "tool_call_id": item["call_id"], "content": carry.result_of(item)} for item in items
        ]
    if kind == "message":
        return [{"role": items[0]["role"], "content": "." + carry.text_of(items[0])}]
    spoken = items[0]["type"] == "message"
    message = {"role": "assistant", "content": "." + carry.text_of(items[0]) if spoken else None}
    calls = items[1:] if spoken else items
    if calls:
        message["tool_calls"] = [tool_call(call) for call in calls]
    return [message]


def tool_call(call):
    function = {"name": call["name"], "arguments": json.dumps(carry.arguments_of(call))}
    return {"id": call["call_id"], "type": "function", "function": function}


def back(messages):
    items = []
    for message in messages:
        if message["role"] == "tool":
            items.append(carry.output_of(message["tool_call_id"], message["content"]))
            continue
        if message["content"] is not None:
            items.append(carry.message_of(message["role"], message["content"][1:]))
        for call in message.get("tool_calls", []):
            function = call["function"]
            items.append(carry.call_of(call["id"], function["name"], json.loads(function["arguments"])))
    return items


def project(history, modalities):
    return carry.projected(history, forth, sanitize_messages_for_tool_calling, back)


callpair_subject.serve(project, name="litellm", version=version("litellm"), kinds=carry.KINDS)
