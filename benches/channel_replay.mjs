// A writer at the desk, played over the real channel: keystrokes, moves, selections, saves and questions.
// Usage: node channel_replay.mjs '{"project", "command", "steps", "seed", "budget", "model", "out", "pid"?}'
//
// The project is written to: give a copy. One line of JSON goes to `out` for each step, with the prompt as it came, what
// it was to hold, and the milliseconds from the request as an object to the answer as one. Offsets are UTF-16. `pid` is a
// file that the program writes its process to: then the milliseconds that it was on a processor are told too (Linux).

import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Armarius } from "../examples/javascript/armarius.js";

const { project, command, steps, seed, budget, model, out, pid } = JSON.parse(process.argv[2]);
const SESSION = 60; // steps in one chapter
const TASKS = { select: "rewrite", ask: "ask" }; // a provider keeps the head of each
const KINDS = { type: 66, move: 8, select: 10, save: 6, ask: 10 };

let state = seed >>> 0; // mulberry32: the same steps in every run
const random = () => {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};
const whole = (first, last) => first + Math.floor(random() * (last - first + 1));
const pick = (items) => items[whole(0, items.length - 1)];
const weighted = () => {
  let left = random() * Object.values(KINDS).reduce((sum, one) => sum + one);
  return Object.keys(KINDS).find((kind) => (left -= KINDS[kind]) < 0);
};
// No offset lies inside a character.
const even = (text, at) => (/[\udc00-\udfff]/.test(text[at] ?? "") ? at - 1 : at);

// What all threads of the program have been on a processor, in milliseconds.
const worked = () => {
  if (pid === undefined) return 0;
  const tasks = `/proc/${readFileSync(pid, "utf8").trim()}/task`;
  return readdirSync(tasks).reduce((sum, one) => sum + Number(readFileSync(`${tasks}/${one}/schedstat`, "utf8").split(" ")[0]), 0) / 1e6;
};

const armarius = new Armarius({ project, command });
await armarius.call("index:wait", { timeoutMs: 600_000 });
const { items: documents } = await armarius.call("documents:list", { kinds: ["chapter"] });
const { items: entities } = await armarius.call("entities:list");
const names = entities.filter((one) => one.type === "character").map((one) => one.name);
const ask = (name) =>
  /^[\x00-\x7f]*$/.test(name) ? `Where is ${name} now, and does that contradict anything?` : `${name}此刻在哪里，和前文矛盾吗？`;

writeFileSync(out, "");
let step = 0;
while (step < steps) {
  const { path } = pick(documents);
  const file = join(project, path);
  const text = readFileSync(file, "utf8");
  let end = even(text, Math.floor(text.length * 0.7)); // written so far: the buffer is the text up to here
  writeFileSync(file, text.slice(0, end));
  for (let kind = "open"; step < steps && kind !== null; step += 1) {
    const params = { projectId: "", documentId: path, skillId: "", taskId: TASKS[kind] ?? "write", budget, model };
    let marked = "<cursor/>";
    let at = end;
    let query = "";
    if (kind === "type") end = at = even(text, Math.min(text.length, end + whole(1, 30)));
    if (kind === "save") writeFileSync(file, text.slice(0, end));
    if (kind === "move") at = even(text, Math.max(0, end - whole(200, 3000)));
    if (kind === "ask") query = ask(pick(names));
    const buffer = text.slice(0, end);
    if (kind === "select") {
      const first = even(buffer, Math.max(0, end - whole(100, 2000)));
      at = even(buffer, Math.min(end, first + whole(8, 200)));
      params.selection = [first, at];
      params.skillId = "rewrite";
      marked = `<selection>${buffer.slice(first, at)}</selection>`;
    }
    Object.assign(params, { cursorPosition: at, query, ...(kind === "save" ? {} : { text: buffer }) });
    const before = worked();
    const begun = performance.now();
    const answer = await armarius.call("context:prompt:assemble", params);
    const ms = performance.now() - begun;
    const busy = worked() - before;
    const around = buffer.slice(Math.max(0, at - 12), at).trimStart().split("\n").at(-1);
    appendFileSync(out, JSON.stringify({ kind, task: params.taskId, ms, busy, marked, around, query, ...answer, layers: undefined }) + "\n");
    kind = step % SESSION === SESSION - 1 ? null : weighted();
  }
  writeFileSync(file, text);
}
await armarius.close();
