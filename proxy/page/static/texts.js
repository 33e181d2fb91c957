// The texts of a request, where they are kept.
import { h, bytes } from "./draw.js";
import { pre } from "./request.js";
import { load } from "./load.js";

// texts returns what a request said, once somebody asks for it: a button, and, when it
// was pressed, what each message said. changed is called when that comes. In shadow there is what came alone.
export function texts(id, shadow, changed) {
  const one = { said: null, button: null };
  const masked = "What looks like a credential is masked as [secret].";
  one.button = h("div", { class: "tools" }, h("button", { onclick: async () => {
    try {
      const t = await load("api/texts/" + id);
      const { messages, input, ...rest } = t.before;
      one.said = saidBy(t, shadow);
      one.button = h("div", {}, h("div", { class: "tools" }, h("span", { class: "dim" }, t.same ? "It was sent as it came. " + masked : masked), h("span", { class: "gap" }),
        h("a", { class: "button", href: `api/texts/${id}.jsonl`, download: id + ".jsonl" }, "Download for laconic replay")),
      h("details", { class: "said" }, h("summary", {}, "All but the messages"), pre(clipped(json(rest)))));
    } catch {
      one.button = h("p", { class: "dim" }, "The texts of this request are not kept: newer ones took their room, or it came while too many others did.");
    }
    changed();
  } }, "Show the texts"));
  return one;
}

// saidBy returns what says what a message said on both sides.
function saidBy(t, shadow) {
  const listOf = (body) => (body && Array.isArray(body.messages) ? body.messages : []); // items have no places of messages
  const came = listOf(t.before), sent = t.same ? came : listOf(t.after);
  return (m) => {
    const before = came[m.origin], after = sent[m.at];
    if (shadow) return { came: before ? pieces(before) : null, sent: before && m.state === "kept" ? pieces(before) : [{ kind: "shadow: this was not made" }] };
    if (m.record) return { came: null, sent: after ? recordIn(came[m.host], after) : null };
    return { came: before ? pieces(before) : null, sent: after ? pieces(after) : null };
  };
}

// recordIn returns what was added to the message m that the record follows; all of it
// where there is none.
function recordIn(m, after) {
  const all = pieces(after), own = m ? pieces(m) : [];
  if (m && typeof m.content === "string" && typeof after.content === "string" && after.content.startsWith(m.content)) return [{ text: after.content.slice(m.content.length) }];
  return m && Array.isArray(m.content) && all.length > own.length ? all.slice(own.length) : all;
}

// pieces are the texts of a message, and last what else is in it.
function pieces(m) {
  const { role, content, tool_calls, ...rest } = m;
  const parts = Array.isArray(content) ? content : content ? [{ text: String(content) }] : [];
  return [
    ...parts.map((p) => (p && typeof p.text === "string" ? { text: p.text } : { kind: String(p && p.type), text: clipped(json(p)) })),
    ...(Array.isArray(tool_calls) ? tool_calls.filter(Boolean) : []).map((c) => ({ kind: "call of " + (c.function && c.function.name), text: c.function ? pretty(c.function.arguments) : clipped(json(c)) })),
    ...(Object.keys(rest).length ? [{ kind: "beside it", text: clipped(json(rest)) }] : []),
  ];
}

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
