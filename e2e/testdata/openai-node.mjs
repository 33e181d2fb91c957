// The tool loop of OpenAI's own library for Node, with four tools, and one
// prompt: node openai-node.mjs BASE_URL PROMPT.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";

const [baseURL, prompt] = process.argv.slice(2);
const { OpenAI } = createRequire(process.env.LACONIC_AGENTS + "/")("openai");

function tool(name, description, names, run) {
  const properties = Object.fromEntries(names.map((n) => [n, { type: "string" }]));
  return {
    type: "function",
    function: { name, description, parse: JSON.parse, function: run, parameters: { type: "object", properties, required: names } },
  };
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

const runner = new OpenAI({ baseURL, apiKey: "sk-test" }).chat.completions.runTools(
  {
    model: "small",
    messages: [
      { role: "system", content: "You are a coding agent. Use the tools, and report at the end." },
      { role: "user", content: prompt },
    ],
    tools: [
      tool("run_command", "Runs a shell command.", ["command"], shell),
      tool("read_file", "Returns the text of a file.", ["path"], ({ path }) => readFileSync(path, "utf8")),
      tool("write_file", "Writes a file.", ["path", "content"], write),
      tool("edit_file", "Puts new_string in place of old_string.", ["path", "old_string", "new_string"], edit),
    ],
  },
  { maxChatCompletions: 60 },
);
console.log(await runner.finalContent());
