// The page: what there is to show, where in it one is, and the keys.
import { h } from "./draw.js";
import * as views from "./views.js";

// state is what the proxy told, by id.
export const state = { requests: new Map(), conversations: new Map(), totals: {}, board: null, began: "", capture: false };

const main = document.getElementById("main");
const live = document.getElementById("live");
const store = document.getElementById("store");

const places = [
  [/^#\/conversation\/(\d+)$/, "Requests", (n) => views.conversation(state, Number(n))],
  [/^#\/request\/([a-z2-7]+)$/, "Requests", (id) => views.request(state, id)],
  [/^#\/savings$/, "Savings", () => views.savings(state)],
  [/^#\/upstreams$/, "Upstreams", () => views.upstreams(state)],
  [/^#\/configuration$/, "Configuration", () => views.configuration(state)],
  [/^(#\/?)?(\?.*)?$/, "Requests", () => views.requests(state)],
];

// shown is the view that is shown: its element, and what it does on news.
let shown = null;

function show() {
  const hash = location.hash;
  if (hash === "#main") return;
  const place = places.find(([pattern]) => pattern.test(hash));
  const view = place ? place[2](...hash.match(place[0]).slice(1)) : { element: h("p", { class: "empty" }, "There is no such page.") };
  shown = view;
  main.replaceChildren(view.element);
  for (const a of document.querySelectorAll(".bar nav a")) {
    if (place && a.textContent === place[1]) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  const back = view.focus && main.querySelector(view.focus);
  window.scrollTo(0, 0);
  if (back) back.focus();
  else if (left) main.focus({ preventScroll: true });
}

let left = "";
window.addEventListener("hashchange", (e) => {
  left = new URL(e.oldURL).hash;
  show();
  const from = left && [...main.querySelectorAll("a[href]")].find((a) => a.getAttribute("href") === left);
  if (from) from.focus();
});

// The keys: up and down (or j and k) walk through links of a list, Escape goes up.
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
  const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[e.key];
  if (step) {
    const all = [...main.querySelectorAll("[data-step]")];
    const at = all.indexOf(document.activeElement);
    const next = at < 0 ? (step > 0 ? all[0] : null) : all[at + step];
    if (next && (at >= 0 || !e.key.startsWith("Arrow"))) {
      next.focus();
      e.preventDefault();
    }
  } else if (e.key === "Escape" && shown && shown.up) {
    location.hash = shown.up;
  }
});

function take(news) {
  if (news.first) {
    state.requests.clear();
    state.conversations.clear();
    state.capture = Boolean(news.capture);
    document.getElementById("version").textContent = news.board.version;
    document.getElementById("leave").hidden = !news.signed_in;
  }
  const fault = news.board.store;
  store.hidden = !fault;
  store.textContent = fault ? views.sentence(fault.says) + " Requests go on from memory." : "";
  state.began = news.began;
  state.totals = news.totals;
  state.board = news.board;
  for (const c of news.conversations) state.conversations.set(c.id, c);
  for (const r of news.requests) state.requests.set(r.id, r);
  while (state.requests.size > 1000) state.requests.delete(state.requests.keys().next().value);
  if (!shown) show();
  else if (shown.news) shown.news(news);
}

// A browser opens six connections to a host, and each tab would hold one: a tab that
// nobody sees lets go of its own.
let events = null;

function listen() {
  const say = (text, kind) => {
    live.textContent = text;
    live.className = "live " + kind;
  };
  if (events) events.close();
  events = null;
  if (document.hidden) return;
  events = new EventSource("api/events");
  events.onmessage = (e) => {
    say("live", "on");
    take(JSON.parse(e.data));
  };
  events.onerror = (e) => {
    say("not connected", "off");
    if (e.target === events && events.readyState === EventSource.CLOSED) setTimeout(listen, 3000);
  };
}

document.addEventListener("visibilitychange", listen);
listen();
