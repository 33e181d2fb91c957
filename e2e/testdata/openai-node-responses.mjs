// A loop over responses.create of OpenAI's own library for Node, with four tools,
// and one prompt: node openai-node-responses.mjs BASE_URL PROMPT.
import { createRequire } from "node:module";
import { instructions, tools } from "./tools.mjs";

const [baseURL, prompt] = process.argv.slice(2);
const { OpenAI } = createRequire(process.env.LACONIC_AGENTS + "/")("openai");

const client = new OpenAI({ baseURL, apiKey: "sk-test" });
const input = [{ role: "user", content: prompt }];
for (let turn = 0; turn < 60; turn++) {
  const response = await client.responses.create({
    model: "small", instructions, input, store: false, include: ["reasoning.encrypted_content"],
    tools: tools.map(({ run, ...tool }) => ({ type: "function", strict: false, ...tool })),
  });
  input.push(...response.output);
  const calls = response.output.filter((item) => item.type === "function_call");
  if (calls.length === 0) {
    console.log(response.output_text);
    break;
  }
  for (const call of calls) {
    let output;
    try {
      output = tools.find((tool) => tool.name === call.name).run(JSON.parse(call.arguments));
    } catch (e) {
      output = String(e);
    }
    input.push({ type: "function_call_output", call_id: call.call_id, output });
  }
}
