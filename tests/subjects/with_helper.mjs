// Subjects written with the JavaScript helper: `with_helper.mjs stateless|stateful`. Both project a history as it is.

import { execSync } from "node:child_process";
import { Refused, serve } from "../../clients/typescript/callpair_subject.mjs";

console.log("printed while loading");
execSync("echo printed by a child", { stdio: ["ignore", "inherit", "inherit"] });

function project(history) {
  for (const { text } of history.flatMap((item) => item.content)) {
    if (text === "refuse") throw new Refused("as it was asked to");
    if (text === "raise") throw new Error("it went wrong");
  }
  return history;
}

class Session {
  live = [];
  durable = [];
  reset() {
    this.live = [];
    this.durable = [];
  }
  record(items) {
    this.live.push(...items);
    this.durable.push(...items);
  }
  replace(items) {
    this.live = items;
    this.durable = [...items];
  }
  async project() {
    return project(this.live);
  }
  snapshot() {
    return this.live;
  }
  async resume() {
    this.live = [...this.durable];
  }
}

const subject = process.argv[2] === "stateless" ? project : new Session();
await serve(subject, { name: "with helper", version: "2", modalities: ["text", "image"] });
