/** An item of the Responses API: an object with a `type`. */
export type Item = { type: string; [field: string]: unknown };

/** What the model accepts. */
export type Modality = "text" | "image";

/** A value, now or later. */
export type Later<T> = T | Promise<T>;

/** A projector that is a plain function. What it leaves in `history` is told as the caller's history after the call. */
export type Project = (history: Item[], modalities: Modality[]) => Later<Item[]>;

/** A projector that keeps a history of its own. */
export interface Session {
  /** Empties the live history and the durable record. */
  reset(): Later<void>;
  /** Appends items as the runtime does while a turn runs. */
  record(items: Item[]): Later<void>;
  /** Makes the live history exactly these items, durably. */
  replace(items: Item[]): Later<void>;
  /** What the next request holds. */
  project(modalities: Modality[]): Later<Item[]>;
  /** The live history, unprojected. */
  snapshot(): Later<Item[]>;
  /** Drops what is in memory and rebuilds it from the durable record. */
  resume?(): Later<void>;
  /** Takes back the last user turns. */
  rollback?(turns: number): Later<void>;
  /** Goes on in a fork of the session. */
  fork?(): Later<void>;
}

/** What the subject says of itself; see docs/protocol.md. */
export interface Options {
  name: string;
  /** "0" where it is left out. */
  version?: string;
  /** Text and pictures where it is left out. */
  modalities?: Modality[];
  profile?: "codex" | "responses";
  kinds?: string[];
  numbers?: "exact";
  truncation?: { mode: "bytes" | "tokens"; limit: number };
}

/** Thrown by a projector that declines a history on purpose. */
export class Refused extends Error {}

/** Answers requests until callpair says `shutdown` or is gone. */
export function serve(subject: Project | Session, options: Options): Promise<void>;
