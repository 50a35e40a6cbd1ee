"""Makes a projector a subject of callpair: JSON-RPC over stdin and stdout, one message a line.

Import this before anything that may print: from then on whatever is printed goes to stderr.

    import callpair_subject
    from my_agent import normalise

    def project(history, modalities):
        return normalise(history)

    callpair_subject.serve(project, name="my agent", modalities=["text"])

`project` gets the history as a list of dicts; what it leaves in that list is told as the caller's history after the
call. A subject that keeps a history of its own is an object with the methods reset(), record(items), replace(items),
project(modalities), snapshot() and, if it has them, resume(), rollback(turns) and fork().

Further fields of `initialize` are given by name: profile="codex", kinds=[...], truncation={...}, numbers="exact".
Needs Python 3.8 or later and nothing else.
"""

import json
import os
import sys
import traceback

# The protocol keeps its own copies of the pipes. A child process of the projector cannot get at them either.
_requests = os.fdopen(os.dup(0), "rb")
_answers = os.fdopen(os.dup(1), "wb")
os.dup2(2, 1)
_nothing = os.open(os.devnull, os.O_RDONLY)
os.dup2(_nothing, 0)
os.close(_nothing)


class Refused(Exception):
    """Raised by a projector that declines a history on purpose."""


class _Stateless:
    def __init__(self, project):
        self._project = project

    def project(self, history, modalities):
        return {"items": self._project(history, modalities), "history_after": history}


class _Stateful:
    def __init__(self, session):
        self._session = session

    def project(self, modalities):
        return {"items": self._session.project(modalities)}

    def snapshot(self):
        return {"items": self._session.snapshot()}

    def __getattr__(self, name):
        method = getattr(self._session, name)

        def call(**params):
            method(**params)
            return {}

        return call


def serve(subject, name, version="0", modalities=("text", "image"), **fields):
    """Answers requests until callpair says `shutdown` or is gone."""
    stateful = hasattr(subject, "snapshot")
    described = {
        "protocol": 1,
        "name": name,
        "version": version,
        "stateful": stateful,
        "resume": hasattr(subject, "resume"),
        "modalities": list(modalities),
        "steps": [step for step in ("rollback", "fork") if hasattr(subject, step)],
    }
    described.update(fields)
    methods = _Stateful(subject) if stateful else _Stateless(subject)
    for line in _requests:
        request = json.loads(line)
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        answer.update(_answer(methods, described, request["method"], request.get("params") or {}))
        _answers.write(json.dumps(answer, separators=(",", ":"), allow_nan=False).encode() + b"\n")
        _answers.flush()
        if request["method"] == "shutdown":
            break


_STEPS = ("reset", "record", "replace", "project", "snapshot", "resume", "rollback", "fork")


def _answer(methods, described, name, params):
    if name == "initialize":
        return {"result": described}
    if name == "shutdown":
        return {"result": {}}
    method = getattr(methods, name, None) if name in _STEPS else None
    if method is None:
        return {"error": {"code": -32601, "message": name}}
    try:
        return {"result": method(**params)}
    except Refused as refusal:
        return {"error": {"code": -32001, "message": str(refusal)}}
    except Exception as error:
        traceback.print_exc()
        return {"error": {"code": -32000, "message": f"{type(error).__name__}: {error}"}}
