// @earendil-works/pi-ai: the `input` that a request to the Responses API is given for a transcript.
//
// `convertResponsesMessages` of api/openai-responses-shared.js, which api/openai-responses.js calls in `buildParams`; it
// first runs `transformMessages` of api/transform-messages.js (pictures for text-only models, call ids for other models,
// results for calls without any).
//
// `subject.mjs same|other`: whether the messages are those of the model that is asked, or another provider's, for which
// call ids are rewritten. Call ids of the same model are stored as `CALL_ID|ITEM_ID`; so a call id with a bar has no form
// there, and is refused, as is a picture that neither a user nor a tool gave. A picture is an image block whose media type carries the part that it stands for, parameters and
// all; an output with pictures is a text that says where they stood, then the pictures.

import { Refused, serve } from "../../../clients/typescript/callpair_subject.mjs";
import * as carry from "../carry.mjs";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const home = path.resolve(process.argv[3], "node_modules/@earendil-works/pi-ai");
const { version } = JSON.parse(fs.readFileSync(path.join(home, "package.json"), "utf8"));
const { convertResponsesMessages } = await import(pathToFileURL(path.join(home, "dist/api/openai-responses-shared.js")));

const same = process.argv[2] === "same";
const asked = { id: "gpt-5", provider: "openai", api: "openai-responses", reasoning: true };
const source = same
  ? { provider: "openai", api: "openai-responses", model: "gpt-5" }
  : { provider: "anthropic", api: "anthropic-messages", model: "claude" };
const PROVIDERS = new Set(["openai", "openai-codex", "opencode"]);
const SUPPORT = { supportsMidConvoSystemMessages: true, supportsAdditionalTools: true, supportsToolSearch: true };

const picture = (part) => ({
  type: "image",
  mimeType: `image/png;callpair=${Buffer.from(JSON.stringify(part)).toString("base64url")}`,
  data: "AAAA",
});
const partOf = (image) => JSON.parse(Buffer.from(/;callpair=([^;]*);/.exec(image.image_url)[1], "base64url").toString());
const isPicture = ({ type }) => type === "input_image";

function forth(history) {
  const names = carry.namesOf(history);
  return carry.turns(history).flatMap(({ kind, items }) => {
    if (kind === "outputs") return items.map((item) => resultMessage(item, names));
    if (kind === "assistant") return [assistantMessage(items)];
    return [otherMessage(items[0])];
  });
}

const stored = (callId) => (same ? `${callId}|fc_item` : callId);

function resultMessage(item, names) {
  const parts = Array.isArray(item.output) ? item.output : [];
  const pictures = parts.filter(isPicture);
  const slots = parts.map((part) => (isPicture(part) ? { slot: true } : part));
  const text = pictures.length > 0 ? carry.pack(slots) : carry.resultOf(item);
  return {
    role: "toolResult",
    toolCallId: stored(item.call_id),
    toolName: names.get(item.call_id) ?? "unknown",
    // An empty result is replaced by words that say so; it is not what is looked at here.
    content: [{ type: "text", text: `.${text}` }, ...pictures.map(picture)],
    isError: false,
    timestamp: 0,
  };
}

function assistantMessage(items) {
  const content = items.map((item) =>
    item.type === "message"
      ? { type: "text", text: carry.textOf(item) }
      : { type: "toolCall", id: stored(item.call_id), name: item.name, arguments: carry.argumentsOf(item) },
  );
  const stopReason = items.at(-1).type === "message" ? "stop" : "toolUse";
  return { role: "assistant", content, stopReason, timestamp: 0, ...source };
}

function otherMessage(item) {
  if (item.role === "developer") return { role: "system", content: `.${carry.textOf(item)}`, timestamp: 0 };
  if (!item.content.some(isPicture)) return { role: "user", content: carry.textOf(item), timestamp: 0 };
  const content = item.content.map((part) => (isPicture(part) ? picture(part) : part));
  return { role: "user", content: content.map(({ type, ...rest }) => ({ type: type === "input_text" ? "text" : type, ...rest })), timestamp: 0 };
}

function prepare(messages, modalities) {
  return convertResponsesMessages({ ...asked, input: modalities }, { messages }, PROVIDERS, SUPPORT);
}

function back(input) {
  return input.map((item) => {
    if (item.type === "function_call") return carry.callOf(item.call_id, item.name, JSON.parse(item.arguments));
    if (item.type === "function_call_output") return outputItem(item);
    if (item.role === "assistant") return carry.messageOf("assistant", item.content[0].text);
    if (item.role !== "user") return carry.messageOf("developer", item.content.slice(1));
    if (item.content.length === 1 && item.content[0].type === "input_text") return carry.messageOf("user", item.content[0].text);
    return { type: "message", role: "user", content: item.content.map((part) => (isPicture(part) ? partOf(part) : part)) };
  });
}

function outputItem({ call_id: callId, output }) {
  const parts = typeof output === "string" ? [{ text: output }] : output;
  const [first, ...rest] = parts[0].text.split("\n");
  if (!first.startsWith(".")) return carry.outputOf(callId, parts[0].text);
  const slots = carry.isPacked(first.slice(1)) ? carry.unpack(first.slice(1)) : undefined;
  if (!slots?.some(({ slot }) => slot)) return carry.outputOf(callId, parts[0].text.slice(1));
  const pictures = parts.filter(isPicture).map(partOf);
  const instead = { type: "input_text", text: rest.join("\n") };
  const filled = slots.map((part) => (part.slot ? (pictures.shift() ?? instead) : part));
  return { type: "function_call_output", call_id: callId, output: filled };
}

function backFromMessages(messages) {
  throw new Error(`the transcript was changed: ${JSON.stringify(messages)}`);
}

async function project(history, modalities) {
  if (same && history.some(({ call_id: id }) => id?.includes("|"))) {
    throw new Refused("a call id with a bar has no form in a transcript");
  }
  if (history.some((item) => item.type === "message" && item.role !== "user" && item.content.some(isPicture))) {
    throw new Refused("only users and tools have pictures in a transcript");
  }
  return carry.projected(history, forth, (messages) => prepare(messages, modalities), back, backFromMessages);
}

await serve(project, { name: `pi-ai, ${process.argv[2]} model`, version, kinds: carry.KINDS });
