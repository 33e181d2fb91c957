// The tool runner of Anthropic's own library for Node, with four tools, and one
// prompt: node anthropic-node.mjs BASE_URL PROMPT.
import { createRequire } from "node:module";
import { instructions, tools } from "./tools.mjs";

const [baseURL, prompt] = process.argv.slice(2);
const { Anthropic } = createRequire(process.env.LACONIC_AGENTS + "/")("@anthropic-ai/sdk");

const client = new Anthropic({ baseURL: baseURL.replace(/\/v1$/, ""), apiKey: "sk-test" });
const message = await client.beta.messages.toolRunner({
  model: "small",
  max_tokens: 2048,
  max_iterations: 60,
  thread: false, // it sends the whole history, as to every upstream but Anthropic
  system: instructions,
  messages: [{ role: "user", content: prompt }],
  tools: tools.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters, parse: (input) => input })),
});
console.log(message.content.map((block) => block.text ?? "").join(""));
