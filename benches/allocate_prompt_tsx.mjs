// What prompt-tsx keeps of rows {text, tokens, priority} for a budget, and how long it takes: the last line of standard
// output is {"kept": [indexes], "milliseconds": [each run]}. Lengths are looked up: what is timed is choosing, not counting.
// node allocate_prompt_tsx.mjs FOLDER-WITH-NODE-MODULES ROWS.json
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const [folder, rows] = process.argv.slice(2);
const { PromptElement, PromptRenderer, UserMessage, OutputMode } = createRequire(resolve(folder, "package.json"))("@vscode/prompt-tsx");
const { budget, runs, items } = JSON.parse(readFileSync(rows, "utf8"));
const tokens = new Map(items.map((item) => [item.text, item.tokens]));
const tokenizer = {
  mode: OutputMode.Raw,
  tokenLength: (part) => tokens.get(part.text) ?? 0,
  countMessageTokens: (message) => message.content.reduce((sum, part) => sum + (tokens.get(part.text) ?? 0), 0),
};

class All extends PromptElement {
  render() {
    return vscpp(vscppf, null, ...items.map((item) => vscpp(UserMessage, { priority: item.priority }, item.text)));
  }
}

const milliseconds = [];
let messages = [];
for (let run = 0; run < runs; run += 1) {
  const start = performance.now();
  const renderer = new PromptRenderer({ modelMaxPromptTokens: budget }, All, {}, tokenizer);
  ({ messages } = await renderer.render());
  milliseconds.push(performance.now() - start);
}
const places = new Map(items.map((item, place) => [item.text, place]));
const kept = messages.map((message) => places.get(message.content[0].text));
console.log(JSON.stringify({ kept, milliseconds }));
