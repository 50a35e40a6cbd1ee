"""autogen-core's limited contexts (autogen_core/model_context): what `get_messages` gives an agent to send.

`subject.py buffered|head-and-tail|token-limited`. Dropping messages is what they are for. The token-limited one asks a
model client how long the messages are; the client here counts each message as one token.

A batch of calls becomes one `AssistantMessage` and what answers it one `FunctionExecutionResultMessage`, as
`AssistantAgent` records them; what the model said before it is the message's `thought`.
"""

import asyncio
import json
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), name) for name in ("../../../clients/python", "..")]
import callpair_subject
import carry

from importlib.metadata import version

from autogen_core import FunctionCall
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    HeadAndTailChatCompletionContext,
    TokenLimitedChatCompletionContext,
)
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    SystemMessage,
    UserMessage,
)


class MessageCounter:
    """As much of a model client as the token-limited context asks."""

    def count_tokens(self, messages, *, tools=()):
        return len(messages)


def context(messages):
    if kind_of_context == "buffered":
        return BufferedChatCompletionContext(5, messages)
    if kind_of_context == "head-and-tail":
        return HeadAndTailChatCompletionContext(2, 3, messages)
    return TokenLimitedChatCompletionContext(MessageCounter(), token_limit=5, initial_messages=messages)


kind_of_context = sys.argv[1]
loop = asyncio.new_event_loop()


def forth(history):
    names = {item["call_id"]: item["name"] for item in history if item["type"] == "function_call"}
    return [message_of(kind, items, names) for kind, items in carry.turns(history)]


def message_of(kind, items, names):
    if kind == "outputs":
        return FunctionExecutionResultMessage(content=[result_of(item, names) for item in items])
    if kind == "message":
        text = carry.text_of(items[0])
        return UserMessage(content=text, source="user") if items[0]["role"] == "user" else SystemMessage(content=text)
    spoken = carry.text_of(items[0]) if items[0]["type"] == "message" else None
    calls = [item for item in items if item["type"] == "function_call"]
    if not calls:
        return AssistantMessage(content=spoken, source="agent")
    return AssistantMessage(content=[function_call(call) for call in calls], thought=spoken, source="agent")


def function_call(call):
    return FunctionCall(id=call["call_id"], name=call["name"], arguments=json.dumps(carry.arguments_of(call)))


def result_of(item, names):
    # A result must name its function; an orphan's is unknown.
    name = names.get(item["call_id"], "unknown")
    return FunctionExecutionResult(content=carry.result_of(item), name=name, call_id=item["call_id"], is_error=False)


def back(messages):
    return [item for message in messages for item in items_of(message)]


def items_of(message):
    if isinstance(message, FunctionExecutionResultMessage):
        return [carry.output_of(result.call_id, result.content) for result in message.content]
    if isinstance(message, UserMessage):
        return [carry.message_of("user", message.content)]
    if isinstance(message, SystemMessage):
        return [carry.message_of("developer", message.content)]
    if isinstance(message.content, str):
        return [carry.message_of("assistant", message.content)]
    spoken = [] if message.thought is None else [carry.message_of("assistant", message.thought)]
    return spoken + [carry.call_of(call.id, call.name, json.loads(call.arguments)) for call in message.content]


def prepare(messages):
    return loop.run_until_complete(context(messages).get_messages())


def project(history, modalities):
    return carry.projected(history, forth, prepare, back)


callpair_subject.serve(
    project, name=f"autogen-core, {kind_of_context}", version=version("autogen-core"), kinds=carry.KINDS
)
