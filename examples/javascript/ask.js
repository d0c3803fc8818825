// node ask.js PROJECT QUESTION: the prompt that a model would be given, and why each part is in it.

import { Armarius } from "./armarius.js";

const [project, query] = process.argv.slice(2);
const armarius = new Armarius({ project, command: process.env.ARMARIUS ?? "armarius" });
try {
  await armarius.call("index:wait", { timeoutMs: 600_000 }); // only the first time: it is kept
  const request = { query, budget: 4000 };
  const { items, tokenCount, budget } = await armarius.call("context:prompt:account", request);
  for (const { title, reason, tokens } of items) console.log(`${String(tokens).padStart(5)}  ${title}: ${reason}`);
  console.log(`${String(tokenCount).padStart(5)}  of ${budget}`);
} finally {
  await armarius.close();
}
