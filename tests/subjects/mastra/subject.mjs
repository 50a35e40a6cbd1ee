// @mastra/core's message list: what a model is given of the messages that an agent was called with.
//
// A `MessageList` (agent/message-list) takes the messages as `agent.generate(messages)` adds them, as input; then
// `get.all.aiV5.llmPrompt()`, from which an agent's step takes its prompt. On the way the package keeps calls and results in
// one part, merges an assistant's messages, and runs `sanitizeOrphanedToolPairs` in the end.
//
// The messages are AI SDK model messages. A system message goes to a list of its own in this package, in front of all others;
// so a developer's message has no form within a history, and such a history is refused. A list that begins with an assistant
// is given a user's message (".") in front, for Gemini's sake; so every list begins with one here, which is taken off again.
// An empty tool name, which no API takes, becomes "unknown_tool"; so names get a letter in front while they travel.

import { Refused, serve } from "../../../clients/typescript/callpair_subject.mjs";
import * as carry from "../carry.mjs";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const home = path.resolve(process.argv[2], "node_modules/@mastra/core");
const { version } = JSON.parse(fs.readFileSync(path.join(home, "package.json"), "utf8"));
const { MessageList } = await import(pathToFileURL(path.join(home, "dist/agent/message-list/index.js")));

const OPENING = { role: "user", content: [{ type: "text", text: "callpair: go on" }] };

function forth(history) {
  const names = carry.namesOf(history);
  const messages = carry.turns(history).map(({ kind, items }) => {
    if (kind === "outputs") return { role: "tool", content: items.map((item) => toolResult(item, names)) };
    if (kind === "assistant") return { role: "assistant", content: items.map(assistantPart) };
    return { role: "user", content: [{ type: "text", text: `.${carry.textOf(items[0])}` }] };
  });
  return [OPENING, ...messages];
}

function toolResult(item, names) {
  const toolName = `_${names.get(item.call_id) ?? "unknown"}`;
  const output = { type: "text", value: `.${carry.resultOf(item)}` };
  return { type: "tool-result", toolCallId: item.call_id, toolName, output };
}

function assistantPart(item) {
  if (item.type === "message") return { type: "text", text: `.${carry.textOf(item)}` };
  return { type: "tool-call", toolCallId: item.call_id, toolName: `_${item.name}`, input: carry.argumentsOf(item) };
}

const prepare = (messages) => new MessageList().add(messages, "input").get.all.aiV5.llmPrompt();

function back([opening, ...messages]) {
  if (opening.content[0].text !== OPENING.content[0].text) throw new Error("the opening message is not the first");
  return messages.flatMap(({ role, content }) => {
    return content.map((part) => {
      if (part.type === "text") return carry.messageOf(role, part.text.slice(1));
      if (part.type === "tool-call") return carry.callOf(part.toolCallId, part.toolName.slice(1), part.input);
      return carry.outputOf(part.toolCallId, valueOf(part.output));
    });
  });
}

function valueOf({ type, value }) {
  if (type === "text" && value.startsWith(".")) return value.slice(1);
  return JSON.stringify(value);
}

async function project(history) {
  if (history.some(({ role }) => role === "developer" || role === "system")) {
    throw new Refused("a developer's message has no place in a history");
  }
  return carry.projected(history, forth, prepare, back, back);
}

await serve(project, { name: "mastra", version, kinds: carry.KINDS });
