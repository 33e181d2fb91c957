// jinja.mjs PACKAGE TEMPLATES: reads requests, a line {"original":{…},"folded":{…}}, and applies each chat template of the
// folder TEMPLATES to both by @huggingface/jinja in the folder PACKAGE. A line for each template: which it takes.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [library, templates] = process.argv.slice(2);
const { Template } = await import(pathToFileURL(path.join(library, "dist/index.js")));
const pairs = fs.readFileSync(0, "utf8").trim().split("\n").map((line) => JSON.parse(line));

// Servers differ in what a template is given: texts for parts, objects or texts as arguments.
const ways = [true, false].map((asObjects) => (m) => {
  const given = { ...m, content: m.content ?? "", role: m.role === "developer" ? "system" : m.role };
  if (Array.isArray(given.content)) given.content = given.content.map((p) => p.text ?? "").join("");
  if (m.tool_calls)
    given.tool_calls = m.tool_calls.map((c) => {
      let args = c.function.arguments;
      if (asObjects)
        try {
          args = JSON.parse(args);
        } catch {}
      return { ...c, function: { ...c.function, arguments: args } };
    });
  return given;
});

// refusal is what a template says of a request, or nothing if it takes it in one of the ways.
const refusal = (template, request) => {
  let why = "";
  for (const way of ways)
    try {
      template.render({
        messages: request.messages.map(way),
        tools: request.tools?.length ? request.tools : undefined,
        add_generation_prompt: true,
        bos_token: "<s>",
        eos_token: "</s>",
      });
      return "";
    } catch (e) {
      why = String(e.message ?? e);
    }
  return why || "refused";
};

for (const file of fs.readdirSync(templates).filter((f) => f.endsWith(".jinja")).sort()) {
  const out = { name: file.slice(0, -".jinja".length), originals: 0, folded: 0, worse: [] };
  try {
    const template = new Template(fs.readFileSync(path.join(templates, file), "utf8"));
    pairs.forEach(({ original, folded }, i) => {
      const before = refusal(template, original);
      const after = refusal(template, folded);
      if (!before) out.originals++;
      if (!after) out.folded++;
      if (!before && after) out.worse.push({ pair: i, why: after.slice(0, 200) });
    });
  } catch (e) {
    out.unread = String(e.message ?? e).slice(0, 200);
  }
  console.log(JSON.stringify(out));
}
