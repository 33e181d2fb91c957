// What became of a request, message by message: for the page of the proxy, and for a
// report of a replay.
import { h, count, bytes, strips } from "./draw.js";

export const numbers = (...pairs) => h("dl", { class: "numbers" }, pairs.filter(Boolean).map(([name, value, note]) =>
  h("div", {}, h("dt", {}, name), h("dd", {}, value, note ? h("small", {}, " ", note) : null))));

export const table = (heads, rows, caption, kind) => h("div", { class: "scroll" }, h("table", { "aria-label": caption, class: kind },
  h("thead", {}, h("tr", {}, heads.map((t) => h("th", { class: headClass(t), scope: "col" }, headText(t))))), h("tbody", {}, rows)));
const headClass = (t) => (Array.isArray(t) ? t[1] : "");
const headText = (t) => (Array.isArray(t) ? t[0] : t);

// legend says what the colours of a course mean, with the numbers of its last request.
export const legend = (points) => {
  const last = points && points[points.length - 1], n = (value) => (last && !last.unsent ? " " + count(value) : "");
  const shadow = points && points.some((p) => p.state === "shadow"), only = points && points.every((p) => p.state === "shadow");
  const entry = (kind, text) => h("span", {}, h("i", { class: kind }), text);
  return h("div", { class: "legend" }, last && points.length > 1 ? h("span", {}, "The last request:") : null,
    entry("before", "came" + (last ? " " + count(last.before) : "")), entry("budget", "budget" + (last ? " " + count(last.budget) : "")),
    only ? null : entry("sent", "sent" + (last && last.state !== "shadow" ? n(last.sent) : "")), only ? null : entry("cached", "from the provider's cache" + (last && last.cached >= 0 && last.state !== "shadow" ? n(last.cached) : "")),
    shadow ? entry("would", "would have been sent" + n(last.sent)) : null, only ? null : entry("avoided", "not sent"), entry("epoch", "an epoch begins"));
};

// done is what each stage did. It adds up to what came less what was sent.
function done(r) {
  const stages = r.stage_counts || [];
  const rows = stages.map((t) => h("tr", {}, h("td", {}, t.name), h("td", { class: "n" }, count(t.edits)), h("td", { class: "n" }, count(t.saved))));
  if (r.other_count) rows.push(h("tr", {}, h("td", {}, "counted otherwise by the policy"), h("td"), h("td", { class: "n" }, count(r.other_count))));
  const saved = stages.reduce((n, t) => n + t.saved, r.other_count || 0);
  rows.push(h("tr", { class: "sum" }, h("td", {}, "came, less what was " + (r.unsent || r.shadow ? "planned" : "sent")), h("td", { class: "n" }, count(stages.reduce((n, t) => n + t.edits, 0))),
    h("td", { class: "n" }, count(saved))));
  return h("section", {}, h("h2", {}, "What was done"), stages.length
    ? table(["Stage", ["Edits", "n"], ["Tokens saved", "n"]], rows, "Stages")
    : h("p", { class: "dim" }, r.unsent ? "Nothing was to be done." : "Nothing. It went out as it came."),
  stages.length ? h("p", { class: "dim" }, "A message that left is one edit, and so is the record, which costs " + (r.slot ? "its stage " + count(r.slot.room) + " tokens." : "tokens.")) : null,
  r.results_dropped ? h("p", { class: "warn" }, count(r.results_dropped) + " results without a call were left out.") : null);
}

// record is the slot: the text that stands for what left.
function record(r) {
  const s = r.slot;
  if (!s) return null;
  const told = s.spans.some((one) => one.messages || one.sent);
  const by = r.summary ? `${r.summary.Outcome === "digest" ? "a program" : "the model " + r.summary.Model} wrote it` + (r.summary.Reason ? ` (${r.summary.Reason})` : "") : "a program wrote it";
  const size = (n) => h("td", { class: "n" }, told ? count(n) : "–");
  return h("section", {}, h("h2", {}, "The record of what left"),
    table(["Span", ["Messages", "n"], ["Tokens", "n"], ["Room", "n"]], s.spans.map((one, i) =>
      h("tr", {}, h("td", {}, String(i + 1)), size(one.messages), size(one.sent), h("td", { class: "n" }, count(one.room)))), "Spans of the record"),
    h("p", { class: "dim" }, (told ? `${count(s.sent)} tokens as sent. ` : "") + `${count(s.room)} are kept for it, and what is said to be sent counts these. It stands ${s.at < 0 ? "in a message of its own" : "behind message " + s.at}; ${by}.`));
}

// editsOf returns the edits of each message, in order, each with what it saved there:
// a removal saves what the edits before it left.
function editsOf(r, list) {
  const all = new Map(), rest = new Map(list.map((m) => [m.origin, m.before]));
  for (const e of r.edits || []) {
    for (let i = 0; i < e.count; i++) {
      const at = e.origin + i, saved = e.op === "remove" && e.count > 1 ? rest.get(at) : e.saved;
      rest.set(at, (rest.get(at) || 0) - saved);
      if (!all.has(at)) all.set(at, []);
      all.get(at).push({ stage: e.stage, why: e.why, saved });
    }
  }
  return all;
}

// rowsOf returns the messages in order, each with its fate: added ones behind what they
// follow.
function rowsOf(r) {
  const rows = [], added = new Map(), first = r.more_messages || 0;
  const inOrder = [];
  for (const f of r.fates || []) {
    if (f.state === "added") {
      added.set(f.from, [...(added.get(f.from) || []), { ...f, origin: -1, before: 0, at: f.at || 0 }]);
      continue;
    }
    for (let i = 0; i < f.count; i++) {
      const m = r.list[f.from + i - first], left = f.state === "left";
      inOrder.push({ ...m, origin: f.from + i, state: f.state, at: left ? -1 : (f.at || 0) + i, after: left ? 0 : f.state === "kept" ? m.before : f.after || 0 });
    }
  }
  const follow = (origin) => { for (const m of added.get(origin) || []) rows.push(m); };
  follow(-1);
  for (const m of inOrder) {
    rows.push(m);
    follow(m.origin);
  }
  return rows;
}

// recordRow is the record as one of the messages.
const recordRow = (r) => ({ record: true, origin: -1, role: "record", state: "added", before: 0, after: r.slot.room, at: r.slot.in, host: r.slot.at });

// newsOf marks the rows that are not what they were in the request before, whose rows are
// given, and says how many they are.
function newsOf(list, r, before, since) {
  const was = new Map(rowsOf(before).filter((m) => m.origin >= 0).map((m) => [m.origin, m]));
  const found = { came: 0, tokens: 0, left: 0, changed: 0 };
  for (const m of list) {
    const old = was.get(m.origin);
    if (m.origin < 0 || (old && old.state === m.state && (m.state !== "changed" || old.after === m.after))) continue;
    m.fresh = true;
    if (!old) { found.came++; found.tokens += m.before; }
    if (m.state === "left") found.left++;
    if (m.state === "changed") found.changed++;
  }
  const room = (x) => (x.slot ? x.slot.room : 0), spans = (x) => (x.slot ? x.slot.spans.length : 0);
  found.record = spans(r) !== spans(before) || room(r) !== room(before);
  const parts = [`${count(found.came)} ${found.came === 1 ? "message" : "messages"} came (${count(found.tokens)} tokens)`, found.left ? count(found.left) + " left" : "", found.changed ? count(found.changed) + " changed" : "",
    !found.record ? "" : !r.slot ? "the record went" : spans(r) === spans(before) ? `the record has ${count(room(r))} tokens of room, not ${count(room(before))}` :
      `the record has ${count(spans(r))} ${spans(r) === 1 ? "span" : "spans"}, not ${count(spans(before))}`].filter(Boolean);
  const would = r.shadow || r.unsent;
  const stays = !found.left && !found.changed && !found.record;
  found.says = `Since ${since || "the request before"}: ${parts.join(", ")}. ` + (stays ? `What was sent before ${would ? "would be" : "is"} sent again as it was, so the provider's cache can serve it.` : `The provider's cache ${would ? "would end" : "ends"} at the first change.`);
  return found;
}

// planned shows what became of a request. o.said returns what a message said as it came
// and as it was sent, o.above stands above the messages, o.open opens what was changed,
// and o.before is the request before it.
export function planned(r, o = {}) {
  const list = rowsOf(r);
  const parts = [];
  if (list.length) {
    parts.push(h("div", { class: "figure" }, strips(list, r.fixed || 0, r.slot, 1400), h("div", { class: "legend" },
      h("span", {}, `above: what came, below: what ${r.shadow ? "would have been" : r.unsent ? "was planned" : "was"} ${r.unsent ? "" : "sent"}`),
      ["system", "user", "assistant", "tool", "record"].map((role) => h("span", { class: "role " + role }, role === "record" ? "the record of what left" : role)))));
  }
  if (o.before && list.length) parts.push(h("p", { id: "since" }, newsOf(list, r, o.before, o.since).says));
  parts.push(h("div", { class: "cols" }, done(r), record(r)));
  const text = o.said && r.slot ? (o.said(recordRow(r)).sent || []).map((p) => p.text || "").join("").trim() : "";
  if (text) parts.push(h("details", { class: "said", open: true }, h("summary", {}, "The text of the record"), pre(text)));
  if (r.epochs_of && r.epochs_of.length) {
    parts.push(h("h2", {}, "Epochs"), h("p", { class: "dim" }, "Those of this history, as it is counted now. As counts are corrected there may be one more or less than began with a request, which the totals count."), table([["At message", "n"], ["Came", "n"], ["Stayed", "n"], ["Trigger", "n"], ["Land", "n"], ["Budget", "n"]],
      r.epochs_of.map((e) => h("tr", {}, [e.at, e.before, e.after, e.trigger, e.land, e.budget].map((n) => h("td", { class: "n" }, count(n))))), "Epochs"));
  }
  if (list.length) parts.push(messages(r, list, o));
  return h("div", {}, parts);
}

// pre is a text, as it is.
export const pre = (text, kind) => h("pre", { class: "text " + (kind || ""), tabindex: "0" }, text);

// side is what one side says. What the other side says too is not said again.
function side(title, pieces, other) {
  const same = (p, i) => other && other[i] && p.text && other[i].text === p.text && other[i].kind === p.kind;
  return h("div", {}, h("b", {}, title), pieces === null ? h("p", { class: "dim" }, "(nothing)") : pieces.map((p, i) => [
    p.kind ? h("p", { class: "kind" }, p.kind) : null,
    same(p, i) ? h("p", { class: "dim" }, "as the client sent it") : p.text ? pre(p.text) : null,
    p.cut ? h("p", { class: "dim" }, `${bytes(p.cut)} more, not on this page`) : null]));
}

// begins is how a message begins, on one line.
function begins(said) {
  const first = (said.came || said.sent || []).find((p) => p.text && p.text.trim());
  return first ? first.text.slice(0, 300).replace(/\s+/g, " ").trim() : "";
}

// messages lists what became of each message. Long runs that fared alike are one
// line, which opens; and so is what a message said.
function messages(r, list, { said, above, open }) {
  const edits = editsOf(r, list);
  const reasons = (m) => (m.record ? r.slot.stage + ": the record of what left" : [...new Set((edits.get(m.origin) || []).map((e) => `${e.stage}: ${e.why}`))].join("; ")) || (r.slot && m.origin === r.slot.at && m.state === "changed" ? "the record follows it" : "");
  const each = (m) => (m.record ? `${r.slot.stage} −${count(r.slot.room)}: the record of what left` :
    (edits.get(m.origin) || []).map((e) => `${e.stage} ${e.saved < 0 ? "−" + count(-e.saved) : count(e.saved)}: ${e.why}`).join("; ") || reasons(m));
  const sorted = [...list];
  if (r.slot) {
    const host = sorted.findIndex((m) => (r.slot.at < 0 ? m.state === "left" : m.origin === r.slot.at));
    sorted.splice(r.slot.at < 0 ? Math.max(host, 0) : host + 1, 0, recordRow(r));
  }
  const line = (m) => {
    const number = m.origin < 0 ? "+" : String(m.origin), text = said && said(m);
    const row = h("tr", { class: "state-" + m.state + (m.fresh ? " since" : "") });
    const fill = (head) => row.replaceChildren(
      h("td", { class: "n" }, head), h("td", {}, h("span", { class: "role " + m.role }, m.role)), h("td", {}, m.fresh ? h("b", { title: "not so in the request before" }, m.state) : m.state),
      h("td", { class: "n" }, m.origin < 0 ? "" : count(m.before)), h("td", { class: "n" }, m.state === "left" ? "–" : count(m.after)),
      h("td", { class: "n wide" }, m.record ? "" : bytes(m.bytes)), h("td", { class: "n wide" }, m.calls ? count(m.calls) : ""), h("td", { class: "n wide" }, m.media ? count(m.media) : ""),
      h("td", { class: "wrap" }, each(m), text ? h("div", { class: "dim begins" }, begins(text)) : null));
    if (!text) {
      fill(number);
      return [row];
    }
    const both = h("tr", { class: "both" });
    const toggle = h("button", { "data-step": true, onclick: () => show(both.hidden) }, number);
    const show = (yes) => {
      both.hidden = !yes;
      toggle.setAttribute("aria-expanded", String(yes));
      if (yes && !both.children.length) {
        both.append(h("td", { colspan: "9" }, h("div", { class: "sides" }, side("As the client sent it", text.came), side("As the upstream receives it", text.sent, text.came))));
      }
    };
    fill(toggle);
    show(Boolean(open) && (m.state === "changed" || m.state === "added"));
    return [row, both];
  };
  const rows = [];
  for (let i = 0; i < sorted.length;) {
    let end = i + 1;
    const alike = (m) => m.state === sorted[i].state && m.fresh === sorted[i].fresh && m.state !== "changed" && !m.record && reasons(m) === reasons(sorted[i]);
    while (end < sorted.length && alike(sorted[end])) end++;
    const run = sorted.slice(i, end);
    if (run.length > 8) rows.push(fold(run, line, stagesOf(run, edits)));
    else rows.push(...run.flatMap(line));
    i = end;
  }
  return h("section", {}, h("h2", {}, "Message by message"), above, r.more_messages ? h("p", { class: "dim" }, count(r.more_messages) + " older messages are not listed.") : null,
    r.more_edits ? h("p", { class: "dim" }, count(r.more_edits) + " edits are not listed.") : null,
    table([["#", "n"], "Role", "State", ["Came", "n"], [r.shadow ? "Would be sent" : "Sent", "n"], ["Size", "n wide"], ["Calls", "n wide"], ["Media", "n wide"], "Stage, tokens saved, and reason"], rows, "Messages", "messages"));
}

// stagesOf says what the edits of messages that fared alike saved.
function stagesOf(run, edits) {
  const sums = new Map();
  for (const m of run) {
    for (const e of edits.get(m.origin) || []) {
      const key = e.stage + "\n" + e.why;
      sums.set(key, (sums.get(key) || 0) + e.saved);
    }
  }
  return [...sums].map(([key, saved]) => { const [stage, why] = key.split("\n"); return `${stage} ${count(saved)}: ${why}`; }).join("; ");
}

function fold(run, line, reason) {
  const first = run[0], last = run[run.length - 1], sum = (key) => run.reduce((n, m) => n + (m[key] || 0), 0);
  const row = h("tr", { class: "fold state-" + first.state + (first.fresh ? " since" : "") });
  const toggle = h("button", { "data-step": true, "aria-expanded": "false", onclick: () => {
    row.after(...run.flatMap(line));
    row.remove();
  } }, `${first.origin}–${last.origin}`);
  row.append(h("td", { class: "n" }, toggle), h("td", {}, count(run.length) + " messages"), h("td", {}, first.state),
    h("td", { class: "n" }, count(sum("before"))), h("td", { class: "n" }, first.state === "left" ? "–" : count(sum("after"))),
    h("td", { class: "n wide" }, bytes(sum("bytes"))), h("td", { class: "n wide" }, sum("calls") ? count(sum("calls")) : ""), h("td", { class: "n wide" }, sum("media") ? count(sum("media")) : ""), h("td", { class: "wrap" }, reason));
  return row;
}

