// The page: what there is to show, where in it one is, and the keys.
import { h } from "./draw.js";
import * as views from "./views.js";
import { sentence } from "./board.js";
import { load } from "./load.js";

// state is what the proxy told, by id.
export const state = { requests: new Map(), conversations: new Map(), totals: {}, board: null, began: "", version: 0, capture: false };

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
  if (news.began !== state.began) { // another process, or the first time
    state.requests.clear();
    state.conversations.clear();
    state.capture = Boolean(news.capture);
    document.getElementById("version").textContent = news.board.version;
    document.getElementById("leave").hidden = !news.signed_in;
  }
  const fault = news.board.store;
  store.hidden = !fault;
  store.textContent = fault ? sentence(fault.says) + ". Requests go on from memory." : "";
  const same = news.began === state.began && !news.requests.length && JSON.stringify(news.board) === JSON.stringify(state.board);
  Object.assign(state, { began: news.began, version: news.version, totals: news.totals, board: news.board });
  for (const c of news.conversations) state.conversations.set(c.id, c);
  for (const r of news.requests) state.requests.set(r.id, r);
  while (state.requests.size > 1000) state.requests.delete(state.requests.keys().next().value);
  if (!shown) show();
  else if (shown.news && !same) shown.news(news);
}

// ask asks once a second for what is new, while somebody looks.
let next = 0;

async function ask() {
  clearTimeout(next);
  if (document.hidden) return;
  try {
    take(await load(`api/state?since=${state.version}&began=${encodeURIComponent(state.began)}`));
    live.textContent = "live";
    live.className = "live on";
  } catch {
    live.textContent = "not connected";
    live.className = "live off";
  }
  clearTimeout(next);
  next = setTimeout(ask, 1000);
}

document.addEventListener("visibilitychange", ask);
ask();
