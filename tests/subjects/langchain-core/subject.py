"""langchain-core's `trim_messages` (messages/utils.py), which keeps the latest messages.

`subject.py LIMIT start-on-human|defaults`: the most messages that are kept, by `token_counter=len`; and with which settings:
those that its documentation gives for a history that goes back to a chat model (start on a human message, keep the system
message), or none. Dropping the oldest is what it is for.
"""

import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), name) for name in ("../../../clients/python", "..")]
import callpair_subject
import carry

from importlib.metadata import version

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage, trim_messages

limit = int(sys.argv[1])
settings = {"start_on": "human", "include_system": True} if sys.argv[2] == "start-on-human" else {}


def forth(history):
    return [message for kind, items in carry.turns(history) for message in messages_of(kind, items)]


def messages_of(kind, items):
    if kind == "outputs":
        return [ToolMessage(carry.result_of(item), tool_call_id=item["call_id"]) for item in items]
    if kind == "message":
        message = {"user": HumanMessage, "developer": SystemMessage}[items[0]["role"]]
        return [message(carry.text_of(items[0]))]
    spoken = items[0]["type"] == "message"
    calls = items[1:] if spoken else items
    calls = [{"name": call["name"], "args": carry.arguments_of(call), "id": call["call_id"]} for call in calls]
    # A content that is no text cannot be told from an empty one; so a list, which here is no message or one text.
    content = [{"type": "text", "text": carry.text_of(items[0])}] if spoken else []
    return [AIMessage(content, tool_calls=calls)]


def back(messages):
    items = []
    for message in messages:
        if isinstance(message, ToolMessage):
            items.append(carry.output_of(message.tool_call_id, message.content))
        elif isinstance(message, AIMessage):
            items += [carry.message_of("assistant", block["text"]) for block in message.content]
            items += [carry.call_of(call["id"], call["name"], call["args"]) for call in message.tool_calls]
        else:
            role = "user" if isinstance(message, HumanMessage) else "developer"
            items.append(carry.message_of(role, message.content))
    return items


def prepare(messages):
    return trim_messages(messages, max_tokens=limit, token_counter=len, strategy="last", **settings)


def project(history, modalities):
    return carry.projected(history, forth, prepare, back)


callpair_subject.serve(
    project, name=f"langchain-core, {limit} messages, {sys.argv[2]}", version=version("langchain-core"), kinds=carry.KINDS
)
