"""What the Python adapters share: how a Responses item travels in the texts of another message form, and comes back.

A package looks at roles, calls and ids; texts mean nothing to it. So whatever its own form has no place for (a message of
no part or of several, a picture, a call's namespace, arguments that are no JSON object) is packed: it travels as JSON
inside a text, and is unpacked from what the package gives back. A message of one text, an output that is a text and the
call id travel as they are. Item ids and phases do not travel: profile `responses` does not ask for them.

Nothing here adds, drops or reorders an item.
"""

import copy
import json

import callpair_subject

PACKED = "callpair-packed:"


def pack(value):
    return PACKED + json.dumps(value)


def text_of(message):
    """The text that stands for a message's content."""
    parts = message.get("content") or []
    kind = "output_text" if message["role"] == "assistant" else "input_text"
    if len(parts) == 1 and parts[0]["type"] == kind:
        return parts[0]["text"]
    return pack(parts)


def message_of(role, text):
    """The message of a role whose content a text stands for."""
    kind = "output_text" if role == "assistant" else "input_text"
    if text.startswith(PACKED):
        parts = json.loads(text[len(PACKED):])
    else:
        parts = [{"type": kind, "text": text}]
    return {"type": "message", "role": role, "content": parts}


def arguments_of(call):
    """The JSON object that stands for a call's arguments."""
    carried = {"arguments": call["arguments"]}
    if call.get("namespace") is not None:
        carried["namespace"] = call["namespace"]
    return carried


def call_of(call_id, name, carried):
    return {"type": "function_call", "call_id": call_id, "name": name, **carried}


def result_of(output):
    """The text that stands for an output's value."""
    value = output["output"]
    return value if isinstance(value, str) else pack(value)


def output_of(call_id, text):
    value = json.loads(text[len(PACKED):]) if text.startswith(PACKED) else text
    return {"type": "function_call_output", "call_id": call_id, "output": value}


# What an adapter that uses the above knows: the rest has no form in these packages.
KINDS = ["message", "function_call", "function_call_output"]


def turns(history):
    """The history as a model and its runtime made it: ("assistant", [message?, call...]), ("outputs", [output...]) and
    ("message", [message]) of another role. Calls in a row are one batch, as are outputs in a row, and an assistant's
    message opens the batch behind it."""
    grouped = []
    for item in history:
        if item["type"] == "function_call_output":
            kind = "outputs"
        elif item["type"] == "function_call" or item["role"] == "assistant":
            kind = "assistant"
        else:
            kind = "message"
        opens = kind == "message" or (kind == "assistant" and item["type"] == "message")
        if opens or not grouped or grouped[-1][0] != kind:
            grouped.append((kind, []))
        grouped[-1][1].append(item)
    return grouped


def projected(history, forth, prepare, back, back_from_input=None):
    """Converts, prepares and converts back. Where the preparation changed the messages that it was given, the caller's
    history becomes what they say now. No API takes an empty call id; what a package makes of one means nothing."""
    if any(item.get("call_id") == "" for item in history):
        raise callpair_subject.Refused("an empty call id is legal on no API")
    messages = forth(history)
    before = copy.deepcopy(messages)
    items = back(prepare(messages))
    if messages != before:
        history[:] = (back_from_input or back)(messages)
    return items
