// What is shown at each place of the page.
import { h, count, short, time, micros, share, clock, sawtooth, meter } from "./draw.js";
import { numbers, table, legend, planned, pre } from "./request.js";
import { load } from "./load.js";
import { texts } from "./texts.js";
import { board, filters, filterOf, passes, sentence } from "./board.js";

const open = (id) => { location.hash = "#/request/" + id; };

function outcome(r) {
  if (!r.outcome) return "under way";
  if (r.unsent) return h("span", { class: "out failed" }, "not sent");
  const failed = r.status >= 400 || r.code ? " failed" : "";
  return h("span", { class: "out " + r.outcome + failed }, r.outcome);
}

function status(r) {
  if (!r.over) return h("span", { class: "dim" }, "…");
  const bad = r.status >= 400;
  return h("span", { class: bad ? "bad" : "", title: r.code || "" }, String(r.status || "–"), r.code ? " " + r.code : "");
}

// requestRow is a line of the list of requests. It is filled again when the request
// changes.
function requestRow(r) {
  const row = h("tr", { class: "row", onclick: () => open(r.id) });
  row.fill = (r) => {
    const link = row.querySelector("a");
    const focused = link && link === document.activeElement;
    const what = r.model || (r.method ? r.method + " " + (r.endpoint || "other path") : "");
    row.replaceChildren(
      h("td", { class: "path" }, h("a", { href: "#/request/" + r.id, "data-step": true }, clock(r.began))),
      h("td", { class: "n wide" }, r.conversation || ""),
      h("td", { class: "cut" }, what),
      h("td", {}, outcome(r)),
      h("td", { class: "n" }, r.budget ? count(r.before) : ""),
      h("td", { class: "n" }, r.budget ? (r.unsent ? "–" : count(r.sent)) : ""),
      h("td", { class: "wide" }, r.budget && !r.unsent ? meter(r.would || r.sent, r.would ? 0 : r.cached || 0, r.budget, r.before, r.would) : ""),
      h("td", { class: "n wide" }, r.cache_told ? share(r.cached || 0, r.prompt) : ""),
      h("td", { class: "cut why", title: r.why || "" }, r.would && r.would < r.before ? `would have sent ${count(r.would)}: ` : "", r.why || (r.stages || []).join(", ") || (r.reason ? "reason: " + r.reason : r.repairs ? "repair" : "")),
      h("td", { class: "path wide" }, status(r)),
      h("td", { class: "n wide" }, r.over ? time(r.duration_ms || 0) : ""),
    );
    if (focused) row.querySelector("a").focus();
  };
  row.fill(r);
  return row;
}

const requestHeads = ["Time", ["Conv.", "n wide"], "Model", "Outcome", ["Came", "n"], ["Sent", "n"], ["Of the budget", "wide"], ["Cached", "n wide"],
  "Why, or stages", ["Status", "wide"], ["Took", "n wide"]];

// requestList is a table of requests, newest first, which takes news.
function requestList(state, of) {
  const rows = new Map();
  const element = table(requestHeads, [], "Requests, newest first", "requests");
  const body = element.querySelector("tbody");
  const put = (r, fresh) => {
    if (!of(r)) return;
    if (rows.has(r.id)) return rows.get(r.id).fill(r);
    const row = requestRow(r);
    rows.set(r.id, row);
    body.prepend(row);
    if (fresh) {
      row.classList.add("fresh");
      setTimeout(() => row.classList.remove("fresh"), 900);
    }
    if (rows.size > 300) {
      const [oldest] = rows.keys();
      rows.get(oldest).remove();
      rows.delete(oldest);
    }
  };
  for (const r of state.requests.values()) put(r);
  return { element, news: (n) => n.requests.forEach((r) => put(r, true)) };
}

function totalsOf(t) {
  const least = t.before - t.sent;
  return numbers(
    ["Requests sent", count(t.requests), t.unsent ? "and " + count(t.unsent) + " that no upstream got" : ""],
    ["Tokens that came", short(t.before)],
    ["Tokens sent", short(t.sent)],
    ["Not sent", short(least), share(least, t.before)],
    ["From a cache", t.told ? share(t.cached, t.prompt) : "–", t.told ? "of " + short(t.prompt) : "no answer said"],
    ["Epochs begun", count(t.epochs)],
    ["Sent anew by them", short(t.rewritten)],
  );
}

function course(c) {
  const last = c.points[c.points.length - 1];
  const of = c.totals.requests + (c.totals.unsent || 0);
  return h("a", { class: "course", href: "#/conversation/" + c.id, "data-step": true },
    h("div", { class: "top" }, h("span", { class: "what" }, c.id + " · " + (c.model || "no model")), h("span", { class: "dim" }, clock(c.last))),
    sawtooth(c.points, 300, 54),
    h("div", { class: "foot" }, h("span", {}, count(of) + (of === 1 ? " request" : " requests") + (c.client ? " · " + c.client : "")),
      h("span", {}, last ? (last.unsent ? "the last was not sent" : `${last.state === "shadow" ? "would send " : ""}${short(last.sent)} of ${short(last.before)}${last.state === "shadow" ? "" : " sent"}`) : "")));
}

// requests is the first place: what is wrong, and what happens now.
export function requests(state) {
  const filter = filterOf(location.hash), filtered = () => Object.values(filter).some(Boolean);
  const first = h("div"), courses = h("div", { class: "courses" }), cards = new Map(), below = h("div");
  const nothing = h("p", { class: "empty" });
  const heading = h("h2", { id: "list", tabindex: "-1" });
  let list;
  const relist = () => {
    list = requestList(state, (r) => passes(filter, r, state.board));
    below.replaceChildren(list.element);
    say();
  };
  const say = () => {
    const found = filtered() ? [...state.requests.values()].filter((r) => passes(filter, r, state.board)).length : state.requests.size;
    heading.textContent = filtered() ? `${count(found)} of ${count(state.requests.size)} requests, newest first` : "Requests, newest first";
    nothing.textContent = state.requests.size ? "No request passes this filter." : "No request came yet. Point a client's OPENAI_BASE_URL at this proxy.";
    nothing.hidden = found > 0;
    talks.hidden = filtered() || !cards.size;
  };
  const fill = (news) => {
    const focused = first.contains(document.activeElement) && document.activeElement.getAttribute("href");
    first.replaceChildren(board(state.board));
    const again = focused && [...first.querySelectorAll("a")].find((a) => a.getAttribute("href") === focused);
    if (again) again.focus();
    for (const c of news) {
      const card = course(c), old = cards.get(c.id);
      const focused = old && old === document.activeElement;
      if (old) old.replaceWith(card);
      else courses.prepend(card);
      cards.set(c.id, card);
      if (focused) card.focus();
    }
    while (courses.children.length > 12) courses.lastChild.remove();
    say();
  };
  const talks = h("section", {}, h("h2", {}, "Conversations"), legend(), courses);
  relist();
  fill([...state.conversations.values()]);
  return {
    element: h("div", {}, first, talks, heading, filters(filter, state, relist), below, nothing), focus: filtered() ? "#list" : "",
    news: (n) => { list.news(n); fill(n.conversations); }, up: filtered() ? "#/" : "",
  };
}

// conversation is one conversation: its sawtooth, large, and its requests.
export function conversation(state, id) {
  const top = h("div");
  const list = requestList(state, (r) => r.conversation === id);
  const fill = () => {
    const c = state.conversations.get(id);
    if (!c) return top.replaceChildren(h("p", { class: "empty" }, "This conversation is not kept any more."));
    const chart = sawtooth(c.points, 1400, 200, open);
    top.replaceChildren(
      h("h1", {}, `Conversation ${c.id} · ${c.model || "no model"}`),
      h("p", { class: "dim" }, [c.client, "since " + clock(c.began), c.more ? count(c.more) + " earlier requests are not drawn" : ""].filter(Boolean).join(" · ")),
      totalsOf(c.totals),
      h("div", { class: "figure" }, chart, legend(c.points), chart.note ? h("p", { class: "dim" }, chart.note) : null),
    );
  };
  fill();
  const c = state.conversations.get(id);
  return {
    element: h("div", {}, h("div", { class: "crumb" }, h("a", { href: "#/" }, "Requests")), top, h("h2", {}, "Its requests, newest first"), list.element,
      c && c.named ? erase(c.client) : null),
    news: (n) => { list.news(n); if (n.conversations.some((c) => c.id === id)) fill(); },
    up: "#/",
  };
}

// erase is the button that erases the stored summaries of a client, at the second click.
function erase(client) {
  const says = "Erase the stored summaries of " + client;
  const button = h("button", { type: "button", id: "erase" }, says), said = h("span", { class: "dim", role: "status" });
  let asked = false;
  button.addEventListener("blur", () => { asked = false; button.textContent = says; });
  button.addEventListener("click", async () => {
    asked = !asked;
    button.textContent = asked ? `Of all conversations of ${client}: really erase` : says;
    if (asked) return;
    button.disabled = true;
    try {
      const answer = await fetch("../erase", { method: "POST", body: new URLSearchParams({ client }) });
      said.textContent = " " + (await answer.text());
    } catch {
      said.textContent = " The proxy does not answer.";
    }
    button.disabled = false;
  });
  return h("p", {}, button, said);
}

// request is one request, opened.
export function request(state, id) {
  const element = h("div", {}, h("p", { class: "empty" }, "…"));
  const known = state.requests.get(id);
  const view = { element, up: known && known.conversation ? "#/conversation/" + known.conversation : "#/" };
  const captured = state.capture ? texts(id, known && known.outcome === "shadow", () => fill()) : null;
  const fill = async () => {
    try {
      const r = await load("api/request/" + id);
      if (r.conversation) view.up = "#/conversation/" + r.conversation;
      const points = (state.conversations.get(r.conversation) || { points: [] }).points, last = points[points.findIndex((p) => p.id === id) - 1];
      const before = last && (await load("api/request/" + last.id).catch(() => null));
      element.replaceChildren(h("div", {}, opened(r, captured, before)));
    } catch (err) {
      element.replaceChildren(h("p", { class: "empty" }, err.message));
    }
  };
  fill();
  view.news = (n) => { if (n.requests.some((r) => r.id === id)) fill(); };
  return view;
}

function opened(r, texts, before) {
  const crumbs = h("div", { class: "crumb" }, h("a", { href: "#/" }, "Requests"), r.conversation ? [" / ", h("a", { href: "#/conversation/" + r.conversation }, "conversation " + r.conversation)] : null,
    before ? [" / ", h("a", { href: "#/request/" + before.id }, "the request before")] : null);
  const parts = [
    crumbs,
    h("h1", {}, r.model || (r.method || "") + " " + (r.endpoint || "")),
    h("p", { class: "dim" }, [clock(r.began), r.client, r.route !== undefined && r.route !== "" ? "row " + r.route : "", r.policy ? "policy " + r.policy : "",
      r.stream ? "stream" : "", r.tags ? "tags " + r.tags : "", "id " + r.id].filter(Boolean).join(" · ")),
    numbers(
      ["Outcome", outcome(r)],
      ["Status", status(r)],
      r.budget ? ["Came", count(r.before), count(r.messages) + " messages"] : null,
      r.budget ? (r.unsent ? ["Sent", "nothing", "no upstream got it"] : ["Sent", count(r.sent), count(r.messages_sent) + " messages"]) : null,
      r.would ? ["Would have sent", count(r.would)] : null,
      r.budget ? ["Budget", count(r.budget), r.unsent ? "" : share(r.would || r.sent, r.budget) + (r.would ? " would be used" : " used")] : null,
      r.told ? ["Upstream counted", count(r.prompt)] : null,
      r.cache_told ? ["The cache kept", count(r.cached), share(r.cached || 0, r.prompt)] : null,
      r.rewritten ? ["Sent anew by an epoch", count(r.rewritten)] : null,
      r.told ? ["Answer", count(r.output)] : null,
      r.overhead_us ? ["The proxy took", micros(r.overhead_us)] : null,
      r.over ? ["First byte", time(r.first_byte_ms || 0)] : null,
      r.over ? ["All", time(r.duration_ms || 0)] : null,
    ),
  ];
  if (r.why || r.code || r.detail || r.reason || r.ended || r.cut_by_upstream || r.not_enough) {
    parts.push(h("p", { class: "warn" }, [r.why ? sentence(r.why) : "", r.reason ? "passed: " + r.reason : "", r.code, r.detail === r.why ? "" : r.detail, r.ended ? "the answer ended: " + r.ended : "",
      r.cut_by_upstream ? "the upstream read only a part of the prompt" : "", r.not_enough ? "nothing more could leave" : ""].filter(Boolean).join(" · ")));
  }
  if (r.retry) {
    const t = r.retry;
    parts.push(h("p", {}, `The upstream refused it (${[t.Reason, t.Kind, t.Limit ? "limit " + count(t.Limit) : ""].filter(Boolean).join(", ")}). ` +
      (t.Sent ? `It was sent again with ${count(t.Second)} tokens${t.Then ? `, refused for another reason (${t.Then}), sent a third time` : ""}, and ${t.Answered ? "answered" : "refused"}.` : `It was not sent again: ${t.Why}.`)));
  }
  if (!r.list) return parts;
  if (r.shadow) parts.push(h("p", { class: "warn" }, "Shadow: this is what would have been done. The request went on as it came."));
  if (r.unsent) parts.push(h("p", { class: "warn" }, "No upstream got this request. What follows was planned and not done, and no total counts it."));
  if (r.again) parts.push(h("p", { class: "dim" }, "This is the plan of the second send."));
  return [...parts, planned(r, { said: texts && texts.said, above: texts && texts.button, before: before && before.list ? before : null })];
}

// savings says what was not sent, and what that cost.
export function savings(state) {
  const element = h("div");
  const fill = () => {
    const t = state.totals;
    const rows = [...state.conversations.values()].filter((c) => c.totals.requests).sort((a, b) => b.totals.before - b.totals.sent - (a.totals.before - a.totals.sent));
    element.replaceChildren(h("div", {},
      h("h1", {}, "Savings"),
      h("p", { class: "dim" }, "Since " + new Date(state.began).toLocaleString("en-GB") + ", when the proxy started. Tokens that came and were sent are as the proxy counts; prompt, cached and answer are as upstreams bill."),
      totalsOf(t),
      h("h2", {}, "How to read this"),
      t.unsent ? h("p", {}, `${count(t.unsent)} ${t.unsent === 1 ? "request" : "requests"} reached no upstream, and no number here.`) : null,
      h("p", {}, `${count(t.before - t.sent)} tokens were not sent. Most of them would have been read from the provider's cache, had they been sent, at its price for cached tokens: so what was not sent is worth less than it looks.`),
      h("p", {}, `Each epoch changes what was sent before, so the provider reads that anew: about ${count(t.rewritten)} tokens, which its cache would have served. That is the price of compaction, and it is not in the number above.`),
      t.summaries ? h("p", {}, `Summaries written: ${count(t.summaries)}, from about ${count(t.summary_tokens)} tokens. They are requests of their own, and not in the numbers above.`) : null,
      h("p", {}, t.told < t.requests ? `${count(t.requests - t.told)} of ${count(t.requests)} answers did not say what a cache served. What is said of caches is of the others alone.` : "Every answer said what a cache served."),
      h("h2", {}, "By conversation"),
      table([["Conv.", "n"], "Model", ["Requests", "n wide"], ["Came", "n wide"], ["Sent", "n wide"], ["Not sent", "n"], ["Cached", "n"], ["Epochs", "n"], ["Sent anew", "n"]],
        rows.map((c) => h("tr", { class: "row", onclick: () => { location.hash = "#/conversation/" + c.id; } },
          h("td", { class: "n" }, h("a", { href: "#/conversation/" + c.id, "data-step": true }, String(c.id))), h("td", { class: "cut name" }, c.model),
          [c.totals.requests, c.totals.before, c.totals.sent].map((n) => h("td", { class: "n wide" }, count(n))), h("td", { class: "n" }, share(c.totals.before - c.totals.sent, c.totals.before)),
          h("td", { class: "n" }, c.totals.told ? share(c.totals.cached, c.totals.prompt) : "–"), h("td", { class: "n" }, count(c.totals.epochs)), h("td", { class: "n" }, count(c.totals.rewritten)))), "Conversations"),
    ));
  };
  fill();
  return { element, news: fill, up: "#/" };
}

// facts shows what is asked for when the place is opened.
function facts(title, fill) {
  const body = h("div", {}, h("p", { class: "empty" }, "…"));
  load("api/facts").then((f) => body.replaceChildren(h("div", {}, fill(f))), (err) => body.replaceChildren(h("p", { class: "empty" }, err.message)));
  return { element: h("div", {}, h("h1", {}, title), body), up: "#/" };
}

// since is a time of today, or a day and a time.
const since = (t) => (!t ? "never" : new Date(t).toDateString() === new Date().toDateString() ? clock(t) : new Date(t).toLocaleString("en-GB"));

export function upstreams() {
  return facts("Upstreams", (f) => [
    h("p", { class: "dim" }, "As requests have shown them. Nobody probes."),
    (f.upstreams || []).length ? table(["Upstream", "State", "Answered", "Failed", ["In succession", "n wide"]], f.upstreams.map((u) => h("tr", {},
      h("td", { class: "wrap" }, u.upstream), h("td", {}, h("span", { class: u.down ? "bad" : "good" }, u.down ? "down" : "up")), h("td", { class: "path" }, since(u.answered)),
      h("td", { class: "path" }, since(u.failed)), h("td", { class: "n wide" }, count(u.failures)))), "Upstreams") : h("p", { class: "empty" }, "No request went to an upstream yet."),
    h("h2", {}, "What was learnt of their models"),
    h("p", { class: "dim" }, "For each credential apart, which has the name that its requests have; where none came yet, the start of a keyed hash. A limit is believed for an hour at most, a way of counting for a day."),
    (f.models || []).length ? table(["Upstream", "Model", "Credential", "Learnt"], f.models.map((m) => h("tr", {},
      h("td", { class: "wrap" }, m.upstream), h("td", { class: "wrap" }, m.model), h("td", { class: "mono" }, m.credential), h("td", { class: "wrap" }, (m.facts || []).join(", ")))), "Models") : h("p", { class: "empty" }, "Nothing was learnt yet."),
    h("h2", {}, "What was found"),
    (f.findings || []).map((d) => h("p", { class: d.state === "warn" || d.state === "fail" ? "bad" : d.state === "ok" ? "good" : "dim" }, d.check + ": " + d.says + ".", d.fix ? h("span", { class: "dim" }, " Fix: " + d.fix) : null)),
  ]);
}

export function configuration() {
  return facts("Configuration", (f) => [h("p", { class: "dim" }, "The values in force, as laconic check prints them. Secrets are not shown."), pre(f.settings || "")]);
}
