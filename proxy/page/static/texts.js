// The texts of a request, where they are kept.
import { h, bytes } from "./draw.js";
import { load } from "./load.js";

// texts shows what a request said, once somebody asks for it.
export function texts(id) {
  const body = h("div", {}, h("button", { onclick: async () => {
    try {
      body.replaceChildren(...shown(id, await load("api/texts/" + id)));
      body.querySelector("button").focus();
    } catch {
      body.replaceChildren(h("p", { class: "dim" }, "The texts of this request are not kept: newer ones took their room, or it came while too many others did."));
    }
  } }, "Show the texts"));
  return h("section", {}, h("h2", {}, "Texts"), h("p", { class: "dim" }, "What looks like a credential is masked as [secret]."), body);
}

function shown(id, t) {
  const list = h("div");
  const bodies = [["As it came", t.before], t.same ? null : ["As it was sent", t.after]].filter(Boolean);
  const choices = bodies.map(([name, body]) => h("button", { "aria-pressed": "false", onclick: (e) => {
    for (const one of choices) one.setAttribute("aria-pressed", String(one === e.currentTarget));
    list.replaceChildren(...(body ? said(body) : [h("p", { class: "dim" }, "It was not sent.")]));
  } }, name));
  choices[0].click();
  return [
    h("div", { class: "tools" }, choices, h("span", { class: "gap" }), h("a", { class: "button", href: `api/texts/${id}.jsonl`, download: id + ".jsonl" }, "Download for laconic replay")),
    t.same ? h("p", { class: "dim" }, "It was sent as it came.") : null, list,
  ].filter(Boolean);
}

// said lists the messages of a body, and last what else is in it. Each is filled when
// it is opened: there may be thousands.
function said(body) {
  const { messages, ...rest } = body;
  const list = Array.isArray(messages) ? messages : [];
  return [...list.map((m, i) => opens(title(i, m), () => contents(m), i >= list.length - 3)), opens([h("b", {}, "All but the messages")], () => [pre(clipped(json(rest)))], false)];
}

function opens(head, fill, open) {
  const e = h("details", { class: "said", ontoggle: () => {
    if (e.open && e.children.length === 1) e.append(...fill());
  } }, h("summary", {}, head));
  e.open = open;
  return e;
}

// title names a message, and says how it begins.
function title(i, m) {
  const calls = callsOf(m).map((c) => (c.function ? String(c.function.name) : "a call"));
  const begins = textOf(m.content).slice(0, 300).replace(/\s+/g, " ");
  return [h("span", { class: "n" }, String(i)), h("span", { class: "role " + m.role }, String(m.role)),
    h("span", { class: "dim cut" }, [calls.length ? "calls " + calls.join(", ") : "", begins].filter(Boolean).join(" · "))];
}

function contents(m) {
  const { role, content, tool_calls, ...rest } = m;
  const parts = Array.isArray(content) ? content : content ? [{ type: "text", text: String(content) }] : [];
  return [
    ...parts.map((p) => pre(p && typeof p.text === "string" ? p.text : clipped(json(p)))),
    ...callsOf(m).map((c) => pre(c.function ? `${c.function.name} ${pretty(c.function.arguments)}` : clipped(json(c)))),
    ...(Object.keys(rest).length ? [pre(clipped(json(rest)), "dim")] : []),
  ];
}

const callsOf = (m) => (Array.isArray(m.tool_calls) ? m.tool_calls.filter(Boolean) : []);
const textOf = (c) => (typeof c === "string" ? c : Array.isArray(c) ? c.map((p) => (p && typeof p.text === "string" ? p.text : "[" + (p && p.type) + "]")).join(" ") : "");
const pre = (text, kind) => h("pre", { class: "text " + (kind || ""), tabindex: "0" }, text);
const json = (v) => JSON.stringify(v, null, 1);

// pretty returns arguments over several lines, where they are JSON.
function pretty(text) {
  try {
    return json(JSON.parse(text));
  } catch {
    return String(text);
  }
}

// clipped cuts what nobody reads, as an image in base64.
function clipped(text) {
  const most = 20000;
  return text.length <= most ? text : `${text.slice(0, most)}… (${bytes(text.length - most)} more, which are in the download)`;
}
