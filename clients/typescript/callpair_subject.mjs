// Makes a projector a subject of callpair: JSON-RPC over stdin and stdout, one message a line.
//
// Import this before anything that may print: from then on whatever is printed goes to stderr.
//
//     import { serve } from "./callpair_subject.mjs";
//     const { normalise } = await import("./my_agent.mjs");
//     await serve((history, modalities) => normalise(history), { name: "my agent", modalities: ["text"] });
//
// A projector gets the history as a list of objects; what it leaves in that list is told as the caller's history after
// the call. A subject that keeps a history of its own is an object with the methods reset(), record(items),
// replace(items), project(modalities), snapshot() and, if it has them, resume(), rollback(turns) and fork(). Any of
// them may be async. The types are in callpair_subject.d.mts. Needs Node 18 or later (Unix) and nothing else.

import fs from "node:fs";

// Opened anew, the pipe has a descriptor of its own; then number 1 is free, and the next file that is opened gets it.
const answers = redirectStdout();

function redirectStdout() {
  let own;
  try {
    own = fs.openSync("/dev/fd/1", "w");
  } catch {
    // A socket cannot be opened anew (Node's own `spawn` makes such pipes). What the process prints by Node's means
    // still goes to stderr, but what child processes and native code print does not.
    const write = process.stdout.write.bind(process.stdout);
    process.stdout.write = process.stderr.write.bind(process.stderr);
    return write;
  }
  fs.closeSync(1);
  const target = fs.openSync("/dev/fd/2", "a");
  if (target !== 1) throw new Error(`stdout could not be pointed to stderr: got descriptor ${target}`);
  return (text) => {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += fs.writeSync(own, bytes, at);
  };
}

/** Thrown by a projector that declines a history on purpose. */
export class Refused extends Error {}

/** Answers requests until callpair says `shutdown` or is gone. See callpair_subject.d.mts. */
export async function serve(subject, options) {
  const stateful = typeof subject !== "function";
  const described = {
    protocol: 1,
    version: "0",
    stateful,
    resume: stateful && "resume" in subject,
    modalities: ["text", "image"],
    steps: ["rollback", "fork"].filter((step) => stateful && step in subject),
    ...options,
  };
  const methods = stateful ? statefulMethods(subject) : statelessMethods(subject);
  for await (const line of lines()) {
    const { id, method, params } = JSON.parse(line);
    const answer = await answerTo(methods, described, method, params ?? {});
    answers(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\n");
    if (method === "shutdown") break;
  }
  process.stdin.destroy();
}

// Not by `readline`, which also ends a line at U+2028.
async function* lines() {
  let pieces = [];
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) {
    const [head, ...rest] = chunk.split("\n");
    pieces.push(head);
    for (const next of rest) {
      yield pieces.join("");
      pieces = [next];
    }
  }
}

function statelessMethods(project) {
  return {
    project: async ({ history, modalities }) => {
      const items = await project(history, modalities);
      return { items, history_after: history };
    },
  };
}

function statefulMethods(session) {
  const done = (call) => async (params) => {
    await call(params);
    return {};
  };
  return {
    project: async ({ modalities }) => ({ items: await session.project(modalities) }),
    snapshot: async () => ({ items: await session.snapshot() }),
    reset: done(() => session.reset()),
    record: done(({ items }) => session.record(items)),
    replace: done(({ items }) => session.replace(items)),
    ...("resume" in session && { resume: done(() => session.resume()) }),
    ...("rollback" in session && { rollback: done(({ turns }) => session.rollback(turns)) }),
    ...("fork" in session && { fork: done(() => session.fork()) }),
  };
}

async function answerTo(methods, described, method, params) {
  if (method === "initialize") return { result: described };
  if (method === "shutdown") return { result: {} };
  if (!Object.hasOwn(methods, method)) return { error: { code: -32601, message: method } };
  try {
    return { result: await methods[method](params) };
  } catch (error) {
    if (error instanceof Refused) return { error: { code: -32001, message: error.message } };
    console.error(error);
    return { error: { code: -32000, message: String(error) } };
  }
}
