// What tests/integrations/test_javascript.py holds the client to: `node javascript_client.mjs COMMAND PROJECT WORKSPACE`
// prints, as JSON, what is wrong by claim. A claim that takes a client gets the one that all such share.

import assert from "node:assert/strict";
import { Armarius, ArmariusError } from "../../examples/javascript/armarius.js";

const [command, project, workspace] = process.argv.slice(2);
const client = (options) => new Armarius({ command, project, ...options });
const failed = async (promise) => promise.then(() => assert.fail("was answered"), (error) => error);

const CLAIMS = {
  async positions_count_as_javascript_does(armarius) {
    const text = "😀小雨";
    const { items } = await armarius.call("entities:mentions", { text });
    assert.equal(text.slice(...items[0].span), "小雨");
    const { items: points } = await armarius.call("entities:mentions", { text, positionEncoding: "code-point" });
    assert.deepEqual(points[0].span, [1, 3]);
  },

  async a_text_with_line_separators_comes_back_whole(armarius) {
    const text = "灯\u2028塔\u2029在\u0085岸\r上";
    const made = await armarius.call("memories:create", { text });
    assert.equal((await armarius.call("memories:list")).items.find((one) => one.id === made.id).text, text);
  },

  async an_error_has_its_code_and_its_method(armarius) {
    const error = await failed(armarius.call("documents:get", { documentId: "no.md" }));
    assert(error instanceof ArmariusError);
    assert.deepEqual([error.code, error.method], ["UNKNOWN_DOCUMENT", "documents:get"]);
    assert.equal((await failed(armarius.call("memories:create", { text: "\ud83d" }))).code, "INVALID_TEXT");
    assert.equal((await failed(armarius.call("memories:create", { text: "雨".repeat(23e6) }))).code, "REQUEST_TOO_LARGE");
  },

  async a_cancelled_call_is_rejected_with_the_reason_and_the_next_is_answered(armarius) {
    await armarius.call("index:wait", { timeoutMs: 60_000 });
    const calls = Array.from({ length: 200 }, () => new AbortController());
    const asked = calls.map(({ signal }) => failed(armarius.call("index:refresh", {}, { signal })));
    for (const one of calls) one.abort(new Error("typed on"));
    for (const error of await Promise.all(asked)) assert.equal(error.message, "typed on");
    assert.equal((await failed(armarius.call("index:status", {}, calls[0]))).message, "typed on");
    assert((await armarius.call("documents:list")).total > 0);
  },

  async a_thousand_calls_at_once_are_all_answered(armarius) {
    const text = "小雨".repeat(20_000);
    const asked = Array.from({ length: 1000 }, (_, at) => armarius.call("entities:detect", { text: at % 9 ? "小雨" : text }));
    for (const { items } of await Promise.all(asked)) assert.equal(items[0].matchedTerm, "小雨");
  },

  async a_process_that_died_is_told_and_started_again_by_the_next_call() {
    const armarius = client();
    await armarius.call("index:wait");
    const before = armarius.pid;
    process.kill(before, "SIGSTOP"); // so that nothing is answered
    const asked = Array.from({ length: 90 }, () => failed(armarius.call("index:refresh")));
    process.kill(before, "SIGKILL");
    for (const error of await Promise.all(asked)) assert.equal(error.code, "PROCESS_ENDED");
    assert.equal((await armarius.call("index:wait", { timeoutMs: 60_000 })).done, true);
    assert.notEqual(armarius.pid, before);
    await armarius.close();
  },

  async what_cannot_be_started_says_why() {
    const missing = client({ command: "no-such-program" });
    assert.match((await failed(missing.call("index:status"))).message, /^no-such-program cannot be started \(ENOENT\)/);
    await missing.close();
    const elsewhere = client({ project: `${project}/nowhere` });
    assert.match((await failed(elsewhere.call("index:status"))).message, /ended with status 2: [\s\S]*not a project folder/);
    assert.throws(() => new Armarius({}), TypeError);
  },

  async a_program_that_fails_at_once_is_not_started_again_without_a_pause() {
    const armarius = client({ project: "/no/such/folder" });
    const started = new Set();
    for (let turn = 0; turn < 20; turn += 1) {
      const asked = armarius.call("index:status");
      if (armarius.pid !== undefined) started.add(armarius.pid);
      assert.equal((await failed(asked)).code, "PROCESS_ENDED");
    }
    assert.equal(started.size, 1);
  },

  async folders_are_written_where_the_app_says_so(reading) {
    const writing = client({ allowWrite: true });
    await writing.call("documents:write", { files: { "new.md": "# New\n\nA zebra swam.\n" } });
    assert.equal((await writing.call("documents:find", { query: "zebra" })).items[0].line, 3);
    await writing.call("documents:delete", { documentId: "new.md" });
    await writing.close();
    assert.equal((await failed(reading.call("documents:write", { files: {} }))).code, "UNKNOWN_METHOD");
  },

  async projects_of_a_workspace_are_asked_by_name() {
    const told = new Set();
    const armarius = client({ project: undefined, workspace, onProgress: (one) => told.add(one.projectId) });
    const { items } = await armarius.call("projects:list");
    const ids = items.map((one) => one.id);
    assert.deepEqual(ids, ["one", "two"]);
    for (const id of ids) {
      const { call } = armarius.of(id);
      await call("index:wait", { timeoutMs: 60_000 });
      assert.equal((await call("documents:search", { query: "铜鱼" })).items[0].text, `铜鱼${id}沉了。`);
    }
    assert.deepEqual([...told].filter((id) => !ids.includes(id)), []);
    assert.equal((await failed(armarius.call("documents:list"))).code, "INVALID_REQUEST");
    assert.equal((await failed(armarius.of("../novel").call("documents:list"))).code, "INVALID_REQUEST");
    await armarius.close();
  },

  async closing_answers_what_is_under_way_and_ends_the_process() {
    const armarius = client();
    const asked = armarius.call("index:wait", { timeoutMs: 60_000 });
    await armarius.close();
    assert.deepEqual(await asked, { done: true });
    assert.equal(armarius.pid, undefined);
    assert.equal((await failed(armarius.call("index:status"))).code, "CLOSED");
  },
};

const shared = client();
const wrong = {};
for (const [name, claim] of Object.entries(CLAIMS)) {
  wrong[name] = await claim(shared).then(() => "", (error) => error.stack);
}
await shared.close();
console.log(JSON.stringify(wrong));
