// The four tools of the clients for Node, and the functions that they call.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

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
  if (text.split(old_string).length !== 2) return `old_string was not found in ${path}.`;
  writeFileSync(path, text.replace(old_string, () => new_string));
  return `Replaced 1 passage in ${path}.`;
}

function tool(name, description, names, run) {
  const properties = Object.fromEntries(names.map((n) => [n, { type: "string" }]));
  return { name, description, parameters: { type: "object", properties, required: names }, run };
}

export const instructions = "You are a coding agent. Use the tools, and report at the end.";

export const tools = [
  tool("run_command", "Runs a shell command.", ["command"], shell),
  tool("read_file", "Returns the text of a file.", ["path"], ({ path }) => readFileSync(path, "utf8")),
  tool("write_file", "Writes a file.", ["path", "content"], write),
  tool("edit_file", "Puts new_string in place of old_string.", ["path", "old_string", "new_string"], edit),
];
