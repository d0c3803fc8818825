// Several novels in one process: memory, the time to a first prompt, and keystrokes over the wire.
// Usage: node channel_workspace.mjs '{"workspace", "command", "steps", "budget", "model"}'; tells JSON. Memory on Linux alone.

import { existsSync, readFileSync } from "node:fs";
import { Armarius } from "../examples/javascript/armarius.js";

const { workspace, command, steps, budget, model } = JSON.parse(process.argv[2]);
const armarius = new Armarius({ workspace, command });
const megabytes = () => {
  const status = `/proc/${armarius.pid}/status`;
  return existsSync(status) ? Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(status, "utf8"))[1]) / 1024) : null;
};
const timed = async (work) => {
  const begun = performance.now();
  const answer = await work();
  return [performance.now() - begun, answer];
};
const started = performance.now();
const { items } = await armarius.call("projects:list");
const told = { "process started, ms": Math.round(performance.now() - started), "memory then, MB": megabytes(), projects: {} };
const open = [];
for (const { id } of items) {
  const { call } = armarius.of(id);
  const begun = performance.now();
  await call("index:wait", { timeoutMs: 600_000 });
  const { items: documents } = await call("documents:list", { kinds: ["chapter"] });
  const { path } = documents.at(-1);
  const { text } = await call("documents:get", { documentId: path });
  const half = Math.floor(text.length / 2);
  const type = (at) => call("context:prompt:assemble", { documentId: path, text: text.slice(0, half + at), cursorPosition: half + at, taskId: "write", skillId: "", budget, model });
  const [ms, { tokenCount }] = await timed(() => type(0));
  told.projects[id] = { chapters: documents.length, "opened to first prompt, ms": Math.round(performance.now() - begun), "of that the prompt, ms": Math.round(ms), tokens: tokenCount, "memory then, MB": megabytes() };
  open.push(type);
}
const typed = async (types) => {
  const all = [];
  for (let step = 1; step <= steps; step += 1) all.push((await timed(() => types[step % types.length](step)))[0]);
  return all;
};
told.keystrokes = { "in one novel": await typed(open.slice(-1)), "in all in turn": await typed(open) };
told["memory at the end, MB"] = megabytes();
await armarius.close();
console.log(JSON.stringify(told));
