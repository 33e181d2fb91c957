// A loop over responses.create of OpenAI's own library for Node, with four tools,
// and one prompt: node openai-node-responses.mjs BASE_URL PROMPT.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";

const [baseURL, prompt] = process.argv.slice(2);
const { OpenAI } = createRequire(process.env.LACONIC_AGENTS + "/")("openai");

const functions = {
  run_command({ command }) {
    try {
      return execFileSync("sh", ["-c", command + " 2>&1"], { encoding: "utf8" }) || "(no output)";
    } catch (e) {
      return (e.stdout || "") + `\n(exit code ${e.status})`;
    }
  },
  read_file: ({ path }) => readFileSync(path, "utf8"),
  write_file({ path, content }) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return `Wrote ${path}.`;
  },
  edit_file({ path, old_string, new_string }) {
    const text = readFileSync(path, "utf8");
    if (text.split(old_string).length !== 2) return `Not once in ${path}.`;
    writeFileSync(path, text.replace(old_string, () => new_string));
    return `Replaced 1 passage in ${path}.`;
  },
};

function tool(name, description, names) {
  const properties = Object.fromEntries(names.map((n) => [n, { type: "string" }]));
  return { type: "function", name, description, strict: false, parameters: { type: "object", properties, required: names } };
}

const client = new OpenAI({ baseURL, apiKey: "sk-test" });
const tools = [
  tool("run_command", "Runs a shell command.", ["command"]),
  tool("read_file", "Returns the text of a file.", ["path"]),
  tool("write_file", "Writes a file.", ["path", "content"]),
  tool("edit_file", "Puts new_string in place of old_string.", ["path", "old_string", "new_string"]),
];
const input = [{ role: "user", content: prompt }];
for (let turn = 0; turn < 60; turn++) {
  const response = await client.responses.create({
    model: "small", instructions: "You are a coding agent. Use the tools, and report at the end.", input, tools,
    store: false, include: ["reasoning.encrypted_content"],
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
      output = functions[call.name](JSON.parse(call.arguments));
    } catch (e) {
      output = String(e);
    }
    input.push({ type: "function_call_output", call_id: call.call_id, output });
  }
}
