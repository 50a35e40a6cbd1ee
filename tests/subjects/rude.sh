# A subject without manners, one MODE for each: `sh rude.sh MODE`.
#
# It greets as it should, unless MODE begins with `greet-`, and misbehaves at every projection. Unlike rude.py it starts in no
# time, so that whole runs of the command, which start a subject dozens of times, can be tested on it.

mode=$1
version=1 greeting='"stateful":false,"resume":false,"modalities":["text"]'

answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
fail() { printf '{"jsonrpc":"2.0","id":%s,"error":%s}\n' "$id" "$1"; }
many() { head -c "$1" /dev/zero | tr '\0' "$2"; }
hang() { while :; do sleep 1000; done; }

greet() {
    case $mode in
    greet-protocol) answer "{\"protocol\":2,\"name\":\"rude\",\"version\":\"1\",$greeting}" ;;
    greet-no-protocol) answer "{\"name\":\"rude\",\"version\":\"1\",$greeting}" ;;
    greet-kinds) answer "{\"protocol\":1,\"name\":\"rude\",\"version\":\"1\",$greeting,\"kinds\":[\"hologram\"]}" ;;
    greet-nothing) answer '{}' ;;
    greet-list) answer '[]' ;;
    greet-id) id=7 && answer "{\"protocol\":1,\"name\":\"rude\",\"version\":\"1\",$greeting}" ;;
    greet-noise) echo "Loading model" && hang ;;
    greet-error) fail '{"code":-32603,"message":"no key"}' ;;
    greet-closed) exec 1>&- && hang ;;
    greet-exit) echo "no module named agent" >&2 && exit 0 ;;
    *) answer "{\"protocol\":1,\"name\":\"rude\",\"version\":\"$version\",$greeting}" ;;
    esac
}

project() {
    items=${line#*\"history\":}
    items=${items%,\"modalities\"*}
    good='{"items":'$items'}'
    case $mode in
    # Lines that are no answer.
    noise) echo "step 1 of 3" && answer "$good" ;;
    empty-line) echo && answer "$good" ;;
    bom) printf '\357\273\277' && answer "$good" ;;
    nul) printf '\000' && answer "$good" ;;
    two-documents) printf '%s' "$(answer "$good")" && answer "$good" ;;
    answered-twice) answer "$good" && answer "$good" ;;
    batch) echo "[$(answer "$good")]" ;;
    own-request) echo '{"jsonrpc":"2.0","id":1,"method":"sample","params":{}}' ;;
    not-utf8) printf '{"jsonrpc":"2.0","id":%s,"result":{"items":[],"x":"\377"}}\n' "$id" ;;
    cut) printf '{"jsonrpc":"2.0","id":%s,"result":{"items":[\n' "$id" ;;
    nan) printf '{"jsonrpc":"2.0","id":%s,"result":{"items":[NaN]}}\n' "$id" ;;
    deep) many 100000 '[' && echo ;;
    huge-line) many 100000000 x && echo ;;
    endless-line) exec cat /dev/zero ;;
    # Answers to something else.
    wrong-id) id=99 && answer "$good" ;;
    huge-id) id=99999999999999999999999999 && answer "$good" ;;
    text-id) id="\"$id\"" && answer "$good" ;;
    null-id) id=null && answer "$good" ;;
    ahead) id=$((id + 1)) && answer "$good" ;;
    no-version) printf '{"id":%s,"result":%s}\n' "$id" "$good" ;;
    # Answers that say nothing.
    neither) printf '{"jsonrpc":"2.0","id":%s}\n' "$id" ;;
    both) printf '{"jsonrpc":"2.0","id":%s,"result":%s,"error":{"code":1,"message":"x"}}\n' "$id" "$good" ;;
    no-items) answer '{}' ;;
    items-text) answer '{"items":"none"}' ;;
    items-null) answer '{"items":null}' ;;
    items-numbers) answer '{"items":[1,2]}' ;;
    items-nested) answer "{\"items\":[$items]}" ;;
    item-of-no-shape) answer '{"items":[{"type":"function_call","call_id":"a"}]}' ;;
    unknown-field) answer '{"items":[{"type":"message","role":"user","content":[],"secret":1}]}' ;;
    history-after-text) answer "{\"items\":$items,\"history_after\":\"same\"}" ;;
    # Errors.
    error) echo "KeyError: 'call_id'" >&2 && fail '{"code":-32603,"message":"KeyError"}' ;;
    error-text) fail '"it broke"' ;;
    refuse) fail '{"code":-32001,"message":"two calls under one id"}' ;;
    no-method) fail '{"code":-32601,"message":"no such method"}' ;;
    # Ends.
    exit-0) exit 0 ;;
    exit-1) echo "giving up" >&2 && exit 1 ;;
    segfault) kill -SEGV $$ ;;
    term) kill -TERM $$ ;;
    half-a-line) printf '{"jsonrpc":' && exit 0 ;;
    left-child) sleep 1000 & exit 0 ;;
    close-stdout) exec 1>&- && hang ;;
    close-stdin) exec 0<&- && hang ;;
    # Silence.
    hang) hang ;;
    ignore-term) trap '' TERM INT HUP && hang ;;
    unfinished-line) printf '%s' "$(answer "$good")" && hang ;;
    byte-by-byte) while :; do printf x && sleep 0.02; done ;;
    stderr-flood) while :; do many 65536 e >&2 && echo "still at it" >&2; done ;;
    child) sleep 1000 & hang ;;
    daemon) setsid sleep 1000 & hang ;;
    # Well-mannered, and of no use.
    nothing) answer '{"items":[]}' ;;
    constant) answer '{"items":[{"type":"message","role":"user","content":[]}]}' ;;
    process-id) answer "{\"items\":[{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"$$\"}]}]}" ;;
    *) answer "$good" ;;
    esac
}

farewell() {
    [ "$mode" != shutdown-hang ] || hang
    answer '{}'
    [ "$mode" != shutdown-late ] || hang
    [ "$mode" != shutdown-status ] || exit 4
    exit 0
}

while read -r line; do
    id=${line#*\"id\":}
    id=${id%%,*}
    case $line in
    *'"method":"initialize"'*) greet ;;
    *'"method":"shutdown"'*) farewell ;;
    *) project ;;
    esac
done
