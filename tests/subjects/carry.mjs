// What the JavaScript adapters share: how a Responses item travels in another message form, and comes back.
//
// A package looks at roles, calls and ids; texts mean nothing to it. So whatever its own form has no place for (a message of
// no part or of several, a call's namespace, arguments that are no JSON object) is packed: it travels as JSON inside a text,
// and is unpacked from what the package gives back. Item ids and phases do not travel: profile `responses` does not ask for
// them. carry.py is the same for Python.
//
// Nothing here adds, drops or reorders an item.

import { Refused } from "../../clients/typescript/callpair_subject.mjs";

const PACKED = "callpair-packed:";

// What an adapter that uses this knows: the rest has no form in these packages.
export const KINDS = ["message", "function_call", "function_call_output"];

export const pack = (value) => PACKED + JSON.stringify(value);

export const unpack = (text) => JSON.parse(text.slice(PACKED.length));

export const isPacked = (text) => text.startsWith(PACKED);

const textPart = (role, text) => ({ type: role === "assistant" ? "output_text" : "input_text", text });

/** The text that stands for a message's content. */
export function textOf({ role, content = [] }) {
  const only = content.length === 1 ? content[0] : undefined;
  return only?.type === textPart(role).type ? only.text : pack(content);
}

/** The message of a role whose content a text stands for. */
export function messageOf(role, text) {
  const content = isPacked(text) ? unpack(text) : [textPart(role, text)];
  return { type: "message", role, content };
}

/** The JSON object that stands for a call's arguments. */
export function argumentsOf(call) {
  return { arguments: call.arguments, ...(call.namespace != null && { namespace: call.namespace }) };
}

/** The call that a package gives back; arguments that nothing was carried in are the package's own. */
export function callOf(callId, name, input) {
  const carried = typeof input?.arguments === "string" ? input : { arguments: JSON.stringify(input) };
  return { type: "function_call", call_id: callId, name, ...carried };
}

/** The text that stands for an output's value. */
export function resultOf({ output }) {
  return typeof output === "string" ? output : pack(output);
}

export function outputOf(callId, text) {
  return { type: "function_call_output", call_id: callId, output: isPacked(text) ? unpack(text) : text };
}

/** The history as a model and its runtime made it: `{ kind: "assistant", items: [message?, ...calls] }`, `{ kind: "outputs",
 * items }` and `{ kind: "message", items: [message] }` of another role. Calls in a row are one batch, as are outputs in a
 * row, and an assistant's message opens the batch behind it. */
export function turns(history) {
  const grouped = [];
  for (const item of history) {
    let kind = "message";
    if (item.type === "function_call_output") kind = "outputs";
    else if (item.type === "function_call" || item.role === "assistant") kind = "assistant";
    const opens = kind === "message" || (kind === "assistant" && item.type === "message");
    if (opens || grouped.at(-1)?.kind !== kind) grouped.push({ kind, items: [] });
    grouped.at(-1).items.push(item);
  }
  return grouped;
}

/** The name of each call, by its call id: a result must name its tool. */
export function namesOf(history) {
  return new Map(history.filter(({ type }) => type === "function_call").map((call) => [call.call_id, call.name]));
}

/** Converts, prepares and converts back. Where the preparation changed the messages that it was given, the caller's history
 * becomes what they say now. No API takes an empty call id; what a package makes of one means nothing. */
export async function projected(history, forth, prepare, back, backFromMessages) {
  if (history.some((item) => item.call_id === "")) throw new Refused("an empty call id is legal on no API");
  const messages = forth(history);
  const before = JSON.stringify(messages);
  const items = back(await prepare(messages));
  if (JSON.stringify(messages) !== before) history.splice(0, history.length, ...backFromMessages(messages));
  return items;
}
