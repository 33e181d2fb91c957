// The tool runner of Anthropic's own library for Node, with four tools, and one
// prompt: node anthropic-node.mjs BASE_URL PROMPT.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";

const [baseURL, prompt] = process.argv.slice(2);
const { Anthropic } = createRequire(process.env.LACONIC_AGENTS + "/")("@anthropic-ai/sdk");

function tool(name, description, names, run) {
  const properties = Object.fromEntries(names.map((n) => [n, { type: "string" }]));
  return { name, description, input_schema: { type: "object", properties, required: names }, run, parse: (input) => input };
}

function shell({ command }) {
  try {
    return execFileSync("sh", ["-c", command + " 2>&1"], { encoding: "utf8" }) || "(no output)";
  } catch (e) {
    return (e.stdout || "") + `\n(exit code ${e.status})`;
  }
}

function write({ path, content }) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return `Wrote ${path}.`;
}

function edit({ path, old_string, new_string }) {
  const text = readFileSync(path, "utf8");
  if (text.split(old_string).length !== 2) return `Not once in ${path}.`;
  writeFileSync(path, text.replace(old_string, () => new_string));
  return `Replaced 1 passage in ${path}.`;
}

const client = new Anthropic({ baseURL: baseURL.replace(/\/v1$/, ""), apiKey: "sk-test" });
const message = await client.beta.messages.toolRunner({
  model: "small",
  max_tokens: 2048,
  max_iterations: 60,
  thread: false, // it sends the whole history, as to every upstream but Anthropic
  system: "You are a coding agent. Use the tools, and report at the end.",
  messages: [{ role: "user", content: prompt }],
  tools: [
    tool("run_command", "Runs a shell command.", ["command"], shell),
    tool("read_file", "Returns the text of a file.", ["path"], ({ path }) => readFileSync(path, "utf8")),
    tool("write_file", "Writes a file.", ["path", "content"], write),
    tool("edit_file", "Puts new_string in place of old_string.", ["path", "old_string", "new_string"], edit),
  ],
});
console.log(message.content.map((block) => block.text ?? "").join(""));
