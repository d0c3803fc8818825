// A client of `armarius channel`: JSON-RPC 2.0, one message a line.
// Usage: node client.mjs PROJECT QUESTION

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export class Armarius {
  #process;
  #waiting = new Map();
  #last = 0;
  #gone = null;

  constructor(project, { command = "armarius", onNotification = () => {} } = {}) {
    this.#process = spawn(command, ["channel", project], { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.#process.stdout }).on("line", (line) => {
      const message = JSON.parse(line);
      const waiting = this.#waiting.get(message.id);
      if (message.method !== undefined) onNotification(message.method, message.params);
      if (waiting === undefined) return;
      this.#waiting.delete(message.id);
      if (message.error === undefined) waiting.resolve(message.result);
      else waiting.reject(Object.assign(new Error(message.error.message), message.error.data));
    });
    const gone = (error) => {
      this.#gone = error;
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    };
    this.#process.on("error", gone); // not installed, or not on the PATH
    this.#process.stdin.on("error", gone);
    this.#process.on("exit", (code) => gone(new Error(`armarius has ended with status ${code}`)));
  }

  // Positions are code points unless params say positionEncoding: "utf-16", as JavaScript strings count.
  call(method, params = {}) {
    if (this.#gone) return Promise.reject(this.#gone);
    const id = ++this.#last;
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#send({ id, method, params });
    return Object.assign(answer, { cancel: () => this.#send({ method: "$/cancelRequest", params: { id } }) });
  }

  close() {
    if (this.#gone) return Promise.resolve(this.#process.exitCode);
    this.#process.stdin.end();
    return new Promise((resolve) => this.#process.on("exit", resolve));
  }

  #send(message) {
    this.#process.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  }
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [project, query] = process.argv.slice(2);
  const armarius = new Armarius(project, { command: process.env.ARMARIUS ?? "armarius" });
  // A large project is indexed in the background; until then answers carry INDEX_STALE.
  while ((await armarius.call("index:status")).state === "building") await new Promise((done) => setTimeout(done, 50));
  const request = { projectId: "", documentId: "", cursorPosition: 0, skillId: "chat", query, budget: 4000 };
  const [first, second] = await Promise.all([
    armarius.call("context:prompt:assemble", request),
    armarius.call("constraints:list"),
  ]);
  const refused = await armarius.call("context:prompt:assemble", { ...request, documentId: "no/such.md" }).catch((e) => e.code);
  console.log(JSON.stringify({ tokens: first.tokenCount, sources: first.layers.retrieved.source, constraints: second.items.length, refused }));
  process.exitCode = await armarius.close();
}
