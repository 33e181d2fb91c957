// The tool loop of OpenAI's own library for Node, with four tools, and one
// prompt: node openai-node.mjs BASE_URL PROMPT.
import { createRequire } from "node:module";
import { instructions, tools } from "./tools.mjs";

const [baseURL, prompt] = process.argv.slice(2);
const { OpenAI } = createRequire(process.env.LACONIC_AGENTS + "/")("openai");

const runner = new OpenAI({ baseURL, apiKey: "sk-test" }).chat.completions.runTools(
  {
    model: "small",
    messages: [
      { role: "system", content: instructions },
      { role: "user", content: prompt },
    ],
    tools: tools.map(({ run, ...tool }) => ({ type: "function", function: { ...tool, parse: JSON.parse, function: run } })),
  },
  { maxChatCompletions: 60 },
);
console.log(await runner.finalContent());
