"""A subject without manners, one MODE for each: `rude.py MODE [PIDS]`.

It answers as it should while the history is empty, and misbehaves on the first item. The process ids of all that it
starts go to the file PIDS, one a line.
"""

import json
import os
import signal
import sys
import time

MODE = sys.argv[1]
PIDS = sys.argv[2] if len(sys.argv) > 2 else os.devnull

# By file descriptor: what is written is what stands here, and at once.
OUT = 1


def write(data):
    data = data if isinstance(data, bytes) else data.encode()
    while data:
        data = data[os.write(OUT, data) :]


def log(text):
    os.write(2, text.encode() + b"\n")


def note(pid):
    with open(PIDS, "a") as file:
        file.write(f"{pid}\n")


def answer(request, result):
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\n"


def described(**changes):
    fields = {"protocol": 1, "name": "rude", "version": "1", "stateful": False, "resume": False, "modalities": ["text"]}
    fields.update(changes)
    return fields


def error(request, code, message):
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}}) + "\n"


def hang():
    while True:
        time.sleep(1000)


def start_grandchild(before, clean=False):
    """A child of a child that sleeps, after `before`; with its own environment or with none."""
    child = os.fork()
    if child == 0:
        before()
        if os.fork() == 0:
            note(os.getpid())
            os.execve("/bin/sleep", ["sleep", "1000"], {} if clean else os.environ)
        os._exit(0)
    os.waitpid(child, 0)


def misbehave(request, history):
    good = answer(request, {"items": history, "history_after": history})
    item = json.dumps(history[0])

    def result(text):
        return '{"jsonrpc":"2.0","id":%d,"result":%s}\n' % (request["id"], text)

    if MODE == "noise":
        write("Loading checkpoint shards: 100%\x1b[0m\n" + good)
    elif MODE == "empty-line":
        write("\n" + good)
    elif MODE == "wrong-id":
        write(good.replace('"id": %d' % request["id"], '"id": 99'))
    elif MODE == "two-documents":
        write(good.strip() + good)
    elif MODE == "answered-twice":
        write(good + good)
    elif MODE == "late-extra":
        write(good)
        time.sleep(0.2)
        write(good)
    elif MODE == "not-utf8":
        write(good.replace("rude", "").encode()[:-2] + b"\xff}\n")
    elif MODE == "huge-line":
        write('"' + "x" * 100_000_000 + '"\n')
    elif MODE == "endless-line":
        while True:
            write("x" * 65536)
    elif MODE == "half-a-line":
        write(good[:20])
        sys.exit(0)
    elif MODE == "unfinished-line":
        write(good.strip())
        hang()
    elif MODE == "no-items":
        write(result("{}"))
    elif MODE == "items-of-a-wrong-type":
        write(result('{"items":"none"}'))
    elif MODE == "result-of-a-wrong-type":
        write(result("[]"))
    elif MODE == "not-an-item":
        write(result('{"items":[%s,{"type":"function_call"}]}' % item))
    elif MODE == "unknown-field":
        write(result('{"items":[%s]}' % item.replace('"text":', '"logprobs":[],"text":', 1)))
    elif MODE == "own-request":
        write('{"jsonrpc":"2.0","id":1,"method":"log","params":{}}\n' + good)
    elif MODE == "refuse":
        write(error(request, -32001, "two calls of one id\x1b"))
    elif MODE == "no-method":
        write(error(request, -32601, "project"))
    elif MODE == "error":
        log("Traceback (most recent call last):\n  KeyError: 'call_id'")
        write(error(request, -32603, "KeyError"))
    elif MODE == "exit":
        log("giving up")
        sys.exit(3)
    elif MODE == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif MODE == "close-stdout":
        os.close(1)
        hang()
    elif MODE == "close-stdin":
        os.close(0)
        hang()
    elif MODE == "chatty":
        for number in range(100_000):
            log(f"line {number}")
        sys.exit(1)
    elif MODE == "ignore-term":
        for name in ("SIGTERM", "SIGINT", "SIGHUP"):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
        hang()
    elif MODE == "grandchild":
        start_grandchild(lambda: None)
        hang()
    elif MODE == "session":
        start_grandchild(os.setsid)
        hang()
    elif MODE == "daemon":
        start_grandchild(os.setsid, clean=True)
        hang()
    elif MODE == "session-then-answer":
        start_grandchild(os.setsid)
        write(good)
    elif MODE == "silent":
        log("no answer to this one")
    elif MODE == "mutate":
        write(result('{"items":%s,"history_after":[]}' % json.dumps(history)))
    else:
        write(good)


def project(request):
    history = request["params"]["history"]
    if history:
        misbehave(request, history)
    else:
        write(answer(request, {"items": [], "history_after": []}))


def initialize(request):
    if MODE == "initialize-noise":
        write("hello\n")
    elif MODE == "initialize-exit":
        log("no module named agent")
        sys.exit(1)
    elif MODE == "initialize-hang":
        hang()
    elif MODE == "initialize-error":
        write(error(request, -32602, "protocol 1 is too old"))
    elif MODE == "initialize-field":
        write(answer(request, described(modalities=["sound"])))
    elif MODE == "initialize-changes" and os.path.getsize(PIDS) > 10:
        write(answer(request, described(modalities=["text", "image"])))
    else:
        write(answer(request, described(resume=False)))


def shutdown(request):
    if MODE == "shutdown-hang":
        hang()
    write(answer(request, {}))
    if MODE == "shutdown-late":
        hang()
    sys.exit(4 if MODE == "shutdown-status" else 0)


def early_answers(length):
    """Answers with a text of this length when it has seen the head of a request, and reads the rest after that."""
    requests = open(0, "rb")
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "y" * length}]}
    while True:
        head = requests.read(40)
        if not head:
            return
        result = {"items": [item]}
        if b'"initia' in head:
            result = described()
        elif b'"shutdo' in head:
            result = {}
        write(answer({"id": int(head.split(b'"id":')[1].split(b",")[0])}, result))
        log("z" * 100_000)
        requests.readline()


def main():
    note(os.getpid())
    if MODE.startswith("early-answers-"):
        early_answers(int(MODE.split("-")[2]))
        return
    for line in open(0, "rb"):
        request = json.loads(line)
        {"initialize": initialize, "project": project, "shutdown": shutdown}[request["method"]](request)


main()
