"""The projection of release rust-v0.144.6 in plain Python, with or without a session around it, and with a few planted faults.

    plain.py [stateless|stateful] [FAULT]

It is a third implementation, written from docs/behaviour.md alone: a subject for tests that must pass, and that must fail with
a fault. Faults: none, forget-custom, keep-orphans, random-ids, hash-order, write-back, leak, drop-empty.
"""

import copy
import json
import sys
import uuid

NAMESPACE = uuid.UUID("90d38d3e-6a5b-4d52-bfe2-2f1e634bfac4")
PLACEHOLDER = "image content omitted because you do not support image input"
ANSWER = {
    "function_call": "function_call_output",
    "local_shell_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "tool_search_call": "tool_search_output",
}
PREFIX = {"function_call_output": "fco", "custom_tool_call_output": "ctco", "tool_search_output": "tso"}

stateful = "stateful" in sys.argv[1:]
fault = (sys.argv + ["stateless", "none"])[2] if len(sys.argv) > 2 else "none"
leaked = 0


def made_up(call):
    kind = ANSWER[call["type"]]
    output = {"type": kind}
    if call.get("id"):
        name = f"{PREFIX[kind]}:{call['id']}"
        uid = uuid.uuid4() if fault == "random-ids" else uuid.uuid5(NAMESPACE, name)
        output["id"] = f"{PREFIX[kind]}_{uid}"
    output["call_id"] = call["call_id"]
    if kind == "tool_search_output":
        output.update(status="completed", execution="client", tools=[])
    else:
        output["output"] = "aborted"
    return output


def project(history, modalities):
    global leaked
    items = copy.deepcopy(history)
    answered = {(i["type"], i.get("call_id")) for i in items if i["type"] in PREFIX}
    called = {(ANSWER[i["type"]], i.get("call_id")) for i in items if i["type"] in ANSWER and i.get("call_id") is not None}
    result = []
    for item in items:
        kind, call_id = item["type"], item.get("call_id")
        if kind in PREFIX and call_id is not None and (kind, call_id) not in called:
            exempt = kind == "tool_search_output" and item.get("execution") == "server"
            if not exempt and fault != "keep-orphans":
                continue
        result.append(item)
        if kind in ANSWER and call_id is not None and (ANSWER[kind], call_id) not in answered:
            if not (fault == "forget-custom" and kind == "custom_tool_call"):
                result.append(made_up(item))
    if "image" not in modalities:
        for item in result:
            strip(item)
    if fault == "leak":
        leaked += len(history)
        if leaked > 2000 and result:
            result.pop()
    if fault == "drop-empty":
        result = [item for item in result if item.get("content") != []]
    if fault == "hash-order":
        by_hash = sorted(range(len(result)), key=lambda n: hash(("salt", result[n]["type"])))
        result = [result[n] for n in by_hash] if len(result) == 2 else result
    return result


def strip(item):
    if item["type"] == "image_generation_call":
        item["result"] = ""
    for key in ("content", "output"):
        parts = item.get(key)
        if isinstance(parts, list):
            for n, part in enumerate(parts):
                if isinstance(part, dict) and part.get("type") == "input_image":
                    parts[n] = {"type": "input_text", "text": PLACEHOLDER}


FILTERED = {"compaction_trigger", "ghost_snapshot", "other"}
KNOWN = set(ANSWER) | set(PREFIX) | {
    "message", "agent_message", "reasoning", "web_search_call", "image_generation_call", "compaction",
    "context_compaction", "additional_tools", "compaction_summary",
}


def recorded(item):
    if item["type"] not in KNOWN or item["type"] in FILTERED:
        return False
    return not (item["type"] == "message" and item["role"] == "system")


live, durable = [], []


def answer(method, params):
    global live, durable
    if method == "initialize":
        return {
            "protocol": 1, "name": "plain", "version": "1", "stateful": stateful, "resume": stateful,
            "modalities": ["text", "image"], "profile": "codex",
        }
    if method == "project":
        history = live if stateful else params["history"]
        result = project(history, params["modalities"])
        if fault == "write-back":
            history[:] = result
        return {"items": result} if stateful else {"items": result, "history_after": history}
    if method == "reset":
        live, durable = [], []
    elif method == "record":
        durable.append(("record", params["items"]))
        live = live + [item for item in params["items"] if recorded(item)]
    elif method == "replace":
        durable.append(("replace", params["items"]))
        live = list(params["items"])
    elif method == "snapshot":
        return {"items": live}
    elif method == "resume":
        live = []
        for step, items in durable:
            live = list(items) if step == "replace" else live + [item for item in items if recorded(item)]
    return {}


for line in sys.stdin:
    request = json.loads(line)
    result = answer(request["method"], request.get("params") or {})
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
    if request["method"] == "shutdown":
        break
