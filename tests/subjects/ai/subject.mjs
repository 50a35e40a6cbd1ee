// ai (Vercel): the `input` that `generateText` sends through @ai-sdk/openai for a list of messages.
//
// `generateText` is run whole, with a `fetch` that keeps the request in place of sending it. On the way lie
// `standardizePrompt` (throws `InvalidPromptError` for no messages at all), `convertToLanguageModelPrompt` (combines tool
// messages, throws `MissingToolResultsError` for a call without a result; both in src/prompt) and the provider's
// `convertToOpenAIResponsesInput`. Either error is a refusal: the package declines on purpose.
//
// `subject.mjs FOLDER whole|pruned`: as it is, or after `pruneMessages` with `toolCalls: "before-last-3-messages"`, which takes
// out the calls and results of all messages but the last three.
//
// Empty texts of an assistant are left out by the package, as the API asks; so they get a letter in front while they travel.

import { Refused, serve } from "../../../clients/typescript/callpair_subject.mjs";
import * as carry from "../carry.mjs";
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const home = path.resolve(process.argv[2]);
const require = createRequire(pathToFileURL(path.join(home, "package.json")));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const pruned = process.argv[3] === "pruned";
const { generateText, pruneMessages, InvalidPromptError, MissingToolResultsError } = await load("ai");
const { createOpenAI } = await load("@ai-sdk/openai");
const { version } = JSON.parse(fs.readFileSync(path.join(home, "node_modules/ai/package.json"), "utf8"));

globalThis.AI_SDK_LOG_WARNINGS = false;

let sent;
const answer = {
  id: "resp_1",
  object: "response",
  created_at: 0,
  model: "gpt-5",
  output: [
    {
      id: "msg_1",
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "done", annotations: [] }],
    },
  ],
  usage: { input_tokens: 1, output_tokens: 1 },
};
const openai = createOpenAI({
  apiKey: "none",
  baseURL: "http://nowhere.invalid",
  fetch: async (_, { body }) => {
    sent = JSON.parse(body).input;
    return new Response(JSON.stringify(answer), { headers: { "content-type": "application/json" } });
  },
});
const model = openai.responses("gpt-5");

function forth(history) {
  const names = carry.namesOf(history);
  return carry.turns(history).map(({ kind, items }) => {
    if (kind === "outputs") return { role: "tool", content: items.map((item) => toolResult(item, names)) };
    if (kind === "assistant") return { role: "assistant", content: items.map(assistantPart) };
    const [{ role }] = items;
    return { role: role === "developer" ? "system" : role, content: `.${carry.textOf(items[0])}` };
  });
}

function toolResult(item, names) {
  const toolName = names.get(item.call_id) ?? "unknown";
  const output = { type: "text", value: carry.resultOf(item) };
  return { type: "tool-result", toolCallId: item.call_id, toolName, output };
}

function assistantPart(item) {
  if (item.type === "message") return { type: "text", text: `.${carry.textOf(item)}` };
  return { type: "tool-call", toolCallId: item.call_id, toolName: item.name, input: carry.argumentsOf(item) };
}

async function prepare(history) {
  const messages = pruned ? pruneMessages({ messages: history, toolCalls: "before-last-3-messages" }) : history;
  sent = undefined;
  try {
    await generateText({ model, messages, maxRetries: 0, allowSystemInMessages: true });
  } catch (error) {
    const declined = MissingToolResultsError.isInstance(error) || InvalidPromptError.isInstance(error);
    if (declined) throw new Refused(error.message);
    throw error;
  }
  return sent;
}

function back(input) {
  return input.map((item) => {
    if (item.type === "function_call") return carry.callOf(item.call_id, item.name, JSON.parse(item.arguments));
    if (item.type === "function_call_output") return carry.outputOf(item.call_id, item.output);
    const role = item.role === "system" ? "developer" : item.role;
    const text = typeof item.content === "string" ? item.content : item.content[0].text;
    return carry.messageOf(role, text.slice(1));
  });
}

function backFromMessages(messages) {
  return messages.flatMap(({ role, content }) => {
    if (typeof content === "string") return [carry.messageOf(role === "system" ? "developer" : role, content.slice(1))];
    return content.map((part) => {
      if (part.type === "text") return carry.messageOf("assistant", part.text.slice(1));
      if (part.type === "tool-call") return carry.callOf(part.toolCallId, part.toolName, part.input);
      return carry.outputOf(part.toolCallId, part.output.value);
    });
  });
}

const project = (history) => carry.projected(history, forth, prepare, back, backFromMessages);

await serve(project, { name: `ai, ${process.argv[3]} history`, version, kinds: carry.KINDS });
