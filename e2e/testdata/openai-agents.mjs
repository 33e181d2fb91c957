// OpenAI's agents SDK for Node, with four tools, and one prompt:
// node openai-agents.mjs BASE_URL PROMPT.
import { createRequire } from "node:module";
import { instructions, tools } from "./tools.mjs";

const [baseURL, prompt] = process.argv.slice(2);
const load = createRequire(process.env.LACONIC_AGENTS + "/");
const { Agent, run, setDefaultOpenAIClient, setTracingDisabled, tool } = load("@openai/agents");
const { OpenAI } = load("openai");

setDefaultOpenAIClient(new OpenAI({ baseURL, apiKey: "sk-test", maxRetries: 0 }));
setTracingDisabled(true);
const agent = new Agent({
  name: "coder",
  instructions,
  model: "small",
  modelSettings: { store: false, maxTokens: 2048 },
  tools: tools.map(({ run, ...rest }) => tool({ ...rest, strict: false, execute: async (input) => run(input) })),
});
const result = await run(agent, prompt, { maxTurns: 60 });
console.log(result.finalOutput);
