// The loop of Vercel's AI SDK, with four tools, and one prompt:
// node ai-sdk.mjs openai|anthropic BASE_URL PROMPT.
import { createRequire } from "node:module";
import { instructions, tools } from "./tools.mjs";

const [provider, baseURL, prompt] = process.argv.slice(2);
const load = createRequire(process.env.LACONIC_AGENTS + "/");
const { generateText, jsonSchema, stepCountIs, tool } = load("ai");
const models = {
  openai: () => load("@ai-sdk/openai").createOpenAI({ baseURL, apiKey: "sk-test" }).responses("small"),
  anthropic: () => load("@ai-sdk/anthropic").createAnthropic({ baseURL, apiKey: "sk-test" })("small"),
};
const { text } = await generateText({
  model: models[provider](),
  system: instructions,
  prompt,
  maxOutputTokens: 2048,
  maxRetries: 0,
  stopWhen: stepCountIs(60),
  providerOptions: { openai: { store: false, strictJsonSchema: false } },
  tools: Object.fromEntries(tools.map(({ name, description, parameters, run }) => [
    name, tool({ description, inputSchema: jsonSchema(parameters), execute: async (input) => run(input) }),
  ])),
});
console.log(text);
