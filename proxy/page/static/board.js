// What is wrong: the first thing that the page shows, and the filter that its numbers
// are links to.
import { h, count, time, share, clock } from "./draw.js";
import { numbers, table } from "./request.js";

// The filter is in the address, behind "#/?".
const keys = ["is", "model", "key", "q"];

export function filterOf(hash) {
  const given = new URLSearchParams(hash.split("?")[1] || "");
  return Object.fromEntries(keys.filter((k) => given.get(k)).map((k) => [k, given.get(k)]));
}

export const addressOf = (filter) => {
  const all = new URLSearchParams(Object.entries(filter).filter(([, value]) => value));
  return "#/" + (all.size ? "?" + all : "");
};

// passes reports whether a request passes a filter. "slow" is slower than 95 of 100 are,
// and "uncached" is a prompt of which a cache kept less than half.
export function passes(filter, r, board) {
  const said = [r.id, r.tags, r.model, r.code || r.status, r.endpoint].join("\n").toLowerCase();
  const is = { slow: r.first_byte_ms && r.first_byte_ms >= board.all.slow_ms, uncached: r.cache_told && 2 * (r.cached || 0) < r.prompt }[filter.is];
  return (!filter.is || is || r.outcome === filter.is || (r.wrong || []).includes(filter.is)) && (!filter.model || r.model === filter.model) &&
    (!filter.key || r.client === filter.key) && (!filter.q || said.includes(filter.q.toLowerCase()));
}

const filterWords = { error: "failed", over: "above the budget", cut: "cut short", slow: "slow", uncached: "mostly not from a cache" };
const to = (filter, text) => h("a", { href: addressOf(filter), "data-step": true }, text);
const link = (n, filter) => (n ? h("a", { class: filter.is === "error" ? "bad" : "warn", href: addressOf(filter), "data-step": true }, count(n)) : h("span", { class: "dim" }, "0"));
const rate = (n) => (n >= 10 ? count(Math.round(n)) : n.toFixed(1)) + " / min";
// sentence begins a text with a capital, unless it begins with a name.
export const sentence = (text) => (/^[a-z]+[ ,]/.test(text) ? text[0].toUpperCase() + text.slice(1) : text);

// board draws what is wrong, in words, in numbers, and by model and key.
export function board(b) {
  const all = b.all, down = b.down || [], faults = b.faults || [];
  const wrong = [
    ...down.map((u) => h("li", { class: "bad" }, h("a", { href: "#/upstreams", "data-step": true }, u.says), h("span", { class: "says" }, u.fix))),
    ...faults.map((f) => h("li", { class: f.what === "error" ? "bad" : "warn" },
      h("a", { href: addressOf({ is: f.what, q: f.of }), "data-step": true }, f.says),
      h("span", { class: "says" }, (f.why ? sentence(f.why) + ". " : ""), h("a", { href: "#/request/" + f.id }, "The newest came at " + clock(f.last))))),
  ];
  const lines = (title, rows, by) => rows.length ? h("div", {}, table([title, ["Requests", "n"], ["Failed", "n"], ["Over", "n"], ["Cut", "n"], ["From a cache", "n wide"], ["Rate", "n wide"], ["First byte", "n"], ["95 of 100", "n wide"]],
    rows.map((l) => h("tr", {}, h("td", { class: "cut name" }, h("a", { href: addressOf({ [by]: l.name }), "data-step": true }, l.name)), h("td", { class: "n" }, count(l.requests)),
      h("td", { class: "n" }, link(l.errors, { is: "error", [by]: l.name })), h("td", { class: "n" }, link(l.over, { is: "over", [by]: l.name })), h("td", { class: "n" }, link(l.cut, { is: "cut", [by]: l.name })),
      h("td", { class: "n wide" }, l.prompt ? to({ is: "uncached", [by]: l.name }, share(l.cached, l.prompt)) : "–"), h("td", { class: "n wide" }, rate(l.per_minute)), h("td", { class: "n" }, l.median_ms ? time(l.median_ms) : "–"), h("td", { class: "n wide" }, l.slow_ms ? to({ is: "slow", [by]: l.name }, time(l.slow_ms)) : "–"))),
    title)) : null;
  return h("div", {},
    h("h1", {}, "What is wrong", b.of ? ` (of the replica ${b.of} alone; others share its store)` : ""),
    wrong.length ? h("ul", { class: "wrong-list" }, wrong) : h("p", { class: "good" }, all.requests ? "Nothing: no request failed, none went out above its budget, and no upstream is down." : "Nothing yet."),
    numbers(
      ["Requests", h("a", { href: "#/" }, count(all.requests)), "since " + clock(b.since)],
      ["Failed", link(all.errors, { is: "error" })], ["Over budget", link(all.over, { is: "over" })], ["Cut short", link(all.cut, { is: "cut" })],
      ["Upstreams down", down.length ? h("a", { class: "bad", href: "#/upstreams" }, count(down.length)) : h("span", { class: "dim" }, "0")],
      ["From a cache", all.prompt ? to({ is: "uncached" }, share(all.cached, all.prompt)) : "–", all.prompt ? "" : "no answer said"], ["Rate", to({}, rate(all.per_minute)), "of 5 min"],
      all.median_ms ? ["First byte", time(all.median_ms), ["95 of 100 in ", to({ is: "slow" }, time(all.slow_ms))]] : null),
    h("div", { class: "cols" }, lines("Model", b.models || [], "model"), lines("Client", b.keys || [], "key")));
}

// filters is the form that narrows the list. It changes the address without a reload.
export function filters(filter, state, changed) {
  const options = (name, of) => {
    const values = [...new Set([...of, filter[name]].filter(Boolean))].sort();
    return h("select", { "aria-label": name === "is" ? "Outcome" : name === "key" ? "Client" : "Model", onchange: (e) => set(name, e.target.value) },
      h("option", { value: "" }, { is: "all outcomes", model: "all models", key: "all clients" }[name]),
      values.map((v) => h("option", { value: v, selected: filter[name] === v }, (name === "is" && filterWords[v]) || v)));
  };
  const set = (name, value) => {
    filter[name] = value;
    history.replaceState(null, "", addressOf(filter));
    changed();
  };
  const all = [...state.requests.values()];
  const find = h("input", { type: "search", "aria-label": "Search", placeholder: "id, tag, model, code", value: filter.q || "", oninput: (e) => set("q", e.target.value.trim()) });
  return h("div", { class: "tools", id: "filters" },
    options("is", [...Object.keys(filterWords), ...all.map((r) => r.outcome)]), options("model", all.map((r) => r.model)), options("key", all.map((r) => r.client)), find);
}
