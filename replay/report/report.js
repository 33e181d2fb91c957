// One recorded conversation, before and after.
import { h, count, share, sawtooth } from "./draw.js";
import { numbers, table, legend, planned } from "./request.js";

const data = JSON.parse(document.getElementById("data").textContent);
const texts = (pieces) => (pieces || []).map((p) => ({ kind: p.kind, text: p.text < 0 ? "" : data.texts[p.text], cut: p.cut }));

// saidBy returns what says what a message of a request said on both sides.
const saidBy = (r) => (m) => {
  const came = m.origin >= 0 ? texts(data.said[m.origin]) : null;
  const own = m.record ? r.sent_texts[-1] : r.sent_texts[m.at];
  return { came, sent: m.record || m.at >= 0 ? (own ? texts(own) : came) : null };
};

// lazily is a line that opens, and is filled then.
function lazily(id, title, over, fill) {
  const e = h("details", { class: "request" + (over ? " over" : ""), id, ontoggle: () => {
    if (e.open && e.children.length === 1) e.append(fill());
  } }, h("summary", {}, title, over ? " (over budget)" : ""));
  return e;
}

const withList = (r) => r && { ...r, list: data.list, fixed: data.fixed };

function change(r) {
  const last = data.changes[data.changes.indexOf(r) - 1];
  const epochs = r.began === 1 ? `epoch ${r.first}` : r.began ? `epochs ${r.first} to ${r.first + r.began - 1}` : "changed";
  return lazily("r" + r.number, `Request ${r.number}, ${epochs}: ${count(r.before)} → ${count(r.sent)} tokens`, r.sent > data.tokens, () => h("div", {},
    numbers(["Came", count(r.before), count(r.messages) + " messages"], ["Sent", count(r.sent), count(r.messages_sent) + " messages"],
      ["Budget", count(data.tokens), share(r.sent, data.tokens) + " used"], ["From the cache", count(r.cached), share(r.cached, r.sent)]),
    planned(withList(r), { said: saidBy(r), open: true, before: withList(last), since: last && "request " + last.number })));
}

// going are requests [from, to) that are the one before them with new messages at the
// end.
function going(from, to) {
  const which = to - from === 1 ? `Request ${from + 1} goes` : `Requests ${from + 1} to ${to} go`;
  const unchanged = !data.changes.length || data.changes[0].number > to;
  const last = data.points[to - 1];
  const title = unchanged ? `${which} out as the client sent ${to - from === 1 ? "it" : "them"}: up to ${count(last.sent)} tokens` : `${which} on from request ${from}: up to ${count(last.sent)} tokens, of ${count(last.before)} that the client sent`;
  return lazily("r" + (from + 1), title, data.points.slice(from, to).some((p) => p.sent > data.tokens), () => table([["Request", "n"], ["Came", "n"], ["Sent", "n"], ["From the cache", "n"]],
    data.points.slice(from, to).map((p, i) => h("tr", {}, [String(from + i + 1), count(p.before), count(p.sent), share(p.cached, p.sent)].map((t) => h("td", { class: "n" }, t)))), "Requests"));
}

function list() {
  const all = [], changes = new Map(data.changes.map((r) => [r.number - 1, r]));
  for (let i = 0; i < data.points.length;) {
    let end = i;
    while (end < data.points.length && !changes.has(end)) end++;
    if (end > i) all.push(going(i, end));
    if (changes.has(end)) all.push(change(changes.get(end++)));
    i = end;
  }
  return all;
}

const reveal = (id) => {
  const e = document.getElementById(id);
  if (!e) return;
  e.open = true;
  e.scrollIntoView();
};
const chart = sawtooth(data.points.map((p, i) => ({ ...p, id: "r" + (i + 1) })), 1400, 200, reveal);
const budget = count(data.tokens) + (data.budget === count(data.tokens) ? "" : ` (${data.budget})`);
const of = [data.id, data.file === data.id ? "" : data.file, data.model, "policy " + data.policy, "budget " + budget].filter(Boolean).join(" · ");
document.getElementById("conversation").replaceChildren(
  h("h1", {}, "One conversation, before and after"),
  h("p", { class: "dim" }, h("bdi", {}, of)),
  numbers(["Requests", count(data.points.length)], ["Messages", count(data.list.length)], ["Epochs", count(data.epochs)], ["Cost", data.cost.toFixed(3), "of sending everything"]),
  h("div", { class: "figure" }, chart, legend(data.points), chart.note ? h("p", { class: "dim" }, chart.note) : null),
  data.missing ? h("p", { class: "warn" }, "Not on this page: " + data.missing.join("; ") + ".") : "",
  h("p", { class: "dim" }, "Messages are numbered from 0, as in the client's list, and requests from 1. This part of the page holds texts of the conversation."),
  h("div", {}, list()));
const show = () => { if (/^#r\d+$/.test(location.hash)) reveal(location.hash.slice(1)); };
window.addEventListener("hashchange", show);
const begun = data.changes[0];
if (begun) document.getElementById("r" + begun.number).open = true;
show();
