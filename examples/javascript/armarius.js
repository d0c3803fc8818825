// A client of `armarius channel` for Node 18 or later and Electron's main process; no dependencies, types in armarius.d.ts.
//
//   const armarius = new Armarius({ project: "novel/" });
//   const { prompt } = await armarius.call("context:prompt:assemble", { query: "…", budget: 4000 });
//   await armarius.close();

import { spawn } from "node:child_process";
import { once } from "node:events";
import { WITH_POSITIONS } from "./positions.js";

const AT_ONCE = 64; // requests under way; the others wait here, in order. The channel refuses more than 256.
const LONGEST = 64 << 20; // bytes of a message that the channel reads
const PATIENCE_MS = 30_000; // for a process that was asked to end
const PAUSE_MS = 1_000; // before a program that ended without an answer is started again

export class ArmariusError extends Error {
  constructor(code, message, method) {
    super(message);
    Object.assign(this, { name: "ArmariusError", code, method });
  }
}

export class Armarius {
  #options;
  #child = null;
  #closed = false;
  #last = 0;
  #queue = []; // not sent yet
  #open = new Map(); // id to request, sent and not answered
  #pause = { until: 0 }; // why no program is started before that time

  constructor(options) {
    const { project, workspace, store, memory } = options ?? {};
    if ([project, workspace, store, memory || undefined].filter((one) => one !== undefined).length !== 1) {
      throw new TypeError("new Armarius({ project }), { workspace }, { store } or { memory: true }: give one of them");
    }
    this.#options = options;
  }

  get pid() {
    return this.#child?.pid;
  }

  of(projectId) {
    return { call: (method, params, options) => this.call(method, { projectId, ...params }, options) };
  }

  call(method, params = {}, { signal, timeoutMs } = {}) {
    const sent = WITH_POSITIONS.has(method) ? { positionEncoding: "utf-16", ...params } : params;
    const id = ++this.#last;
    const line = `${JSON.stringify({ jsonrpc: "2.0", id, method, params: sent, timeoutMs })}\n`;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (this.#closed) return reject(new ArmariusError("CLOSED", "this client was closed", method));
      if (Date.now() < this.#pause.until) return reject(this.#pause.error(method));
      if (Buffer.byteLength(line) > LONGEST) {
        return reject(new ArmariusError("REQUEST_TOO_LARGE", `a request may have ${LONGEST} bytes`, method));
      }
      const request = { id, method, line, forget: () => signal?.removeEventListener("abort", abort), resolve, reject };
      const abort = () => this.#cancel(request, signal.reason);
      signal?.addEventListener("abort", abort, { once: true });
      this.#queue.push(request);
      this.#send();
    });
  }

  async close() {
    this.#closed = true;
    this.#fail(this.#queue.splice(0), (method) => new ArmariusError("CLOSED", "this client was closed", method));
    const child = this.#child;
    if (child === null) return;
    child.stdin.end(); // what is under way is answered first
    const late = setTimeout(() => child.kill(), PATIENCE_MS);
    await once(child, "close").catch(() => {}); // it may have failed to start
    clearTimeout(late);
  }

  #start() {
    const { project, workspace, store, tenant, memory, allowWrite, command = "armarius" } = this.#options;
    const { env = process.env, onProgress, onLog } = this.#options;
    const [program, ...before] = [command].flat();
    const where = memory ? ["--memory"] : workspace !== undefined ? ["--workspace", workspace] : project ? [project] : [];
    if (tenant !== undefined) where.push("--tenant", tenant);
    if (allowWrite) where.push("--allow-write");
    const secret = store === undefined ? env : { ...env, ARMARIUS_DSN: store }; // no argument: others can read those
    const child = spawn(program, [...before, "channel", ...where], { env: secret, windowsHide: true });
    let said = "";
    let answered = false;
    const ended = (how) => {
      if (this.#child !== child) return;
      this.#child = null; // the next call starts another
      const gone = [...this.#open.values(), ...this.#queue.splice(0)];
      this.#open.clear();
      const error = (method) => new ArmariusError("PROCESS_ENDED", `${program} ${how}${said && `: ${said.trim()}`}`, method);
      if (!answered && !this.#closed) this.#pause = { until: Date.now() + PAUSE_MS, error };
      this.#fail(gone, error);
    };
    child.on("error", (error) => ended(`cannot be started (${error.code}); say where it is with \`command\``));
    child.on("close", (status, signal) => ended(`ended with ${signal ?? `status ${status}`}`));
    child.stdin.on("error", () => {}); // a pipe that broke: `close` says why
    child.stdin.on("drain", () => this.#send());
    readLines(child.stderr, (line) => {
      said = `${said}${line}\n`.slice(-1000);
      onLog?.(line);
    });
    readLines(child.stdout, (line) => {
      const { id, method, params, result, error } = JSON.parse(line);
      answered = true;
      if (method === "$/progress") return onProgress?.(params.value);
      const request = this.#open.get(id);
      if (request === undefined) return; // it was cancelled
      this.#open.delete(id);
      request.forget();
      if (error === undefined) request.resolve(result);
      else request.reject(new ArmariusError(error.data.code, error.message, request.method));
      this.#send();
    });
    return child;
  }

  #send() {
    while (this.#queue.length > 0 && this.#open.size < AT_ONCE) {
      this.#child ??= this.#start();
      if (this.#child.stdin.writableNeedDrain) return; // the process reads slower than is asked
      const request = this.#queue.shift();
      this.#open.set(request.id, request);
      this.#child.stdin.write(request.line);
    }
  }

  #cancel(request, reason) {
    if (this.#open.delete(request.id)) {
      const params = { id: request.id };
      this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "$/cancelRequest", params })}\n`);
    } else {
      this.#queue = this.#queue.filter((one) => one !== request);
    }
    request.reject(reason);
    this.#send();
  }

  #fail(requests, error) {
    for (const { method, forget, reject } of requests) {
      forget();
      reject(error(method));
    }
  }
}

// Not node:readline, which also ends a line at U+2028: a novel may hold one.
function readLines(stream, take) {
  let rest = "";
  stream.setEncoding("utf8").on("data", (data) => {
    const lines = (rest + data).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line !== "") take(line);
  });
}
