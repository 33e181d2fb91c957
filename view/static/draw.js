// Elements and drawings. Data becomes text nodes and attributes, never markup.

// h makes an element. Keys of props that begin with "on" are listeners.
export function h(tag, props, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (key === "class") e.className = value;
    else e.setAttribute(key, value === true ? "" : value);
  }
  e.append(...children.flat(9).filter((c) => c !== undefined && c !== null && c !== false));
  return e;
}

// s makes an element of a drawing.
export function s(tag, props, ...children) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== null) e.setAttribute(key, value);
  }
  e.append(...children.flat(9).filter(Boolean));
  return e;
}

const whole = new Intl.NumberFormat("en");
export const count = (n) => whole.format(n || 0);

export function short(n) {
  if (n >= 1e6) return (n / 1e6).toFixed(n >= 1e7 ? 0 : 1) + " M";
  if (n >= 1e4) return Math.round(n / 1e3) + " k";
  return count(n);
}

export function bytes(n) {
  if (n >= 1 << 20) return (n / (1 << 20)).toFixed(1) + " MiB";
  if (n >= 1 << 10) return (n / (1 << 10)).toFixed(1) + " KiB";
  return count(n) + " B";
}

export function time(ms) {
  if (ms >= 60000) return (ms / 60000).toFixed(1) + " min";
  if (ms >= 1000) return (ms / 1000).toFixed(1) + " s";
  return Math.round(ms) + " ms";
}

export const micros = (us) => (us >= 1000 ? (us / 1000).toFixed(1) + " ms" : us + " µs");
export const share = (part, of) => (of > 0 ? Math.round((100 * part) / of) + " %" : "–");
export const clock = (t) => new Date(t).toLocaleTimeString("en-GB");

// sawtooth draws what each request of a conversation sent, beside its budget, and what
// the client sent. Where that is much more, what is above the budget is drawn smaller,
// in a band of its own. What a request in shadow would have sent is drawn pale.
export function sawtooth(points, width, height, open) {
  const top = 2, floor = height - 1, inner = width;
  const last = points[points.length - 1] || {}, budget = last.budget || 0;
  const came = Math.max(1, ...points.map((p) => p.before));
  const low = Math.max(1, ...points.map((p) => p.sent), Math.min(budget, 4 * came)) * 1.06;
  const banded = came > 2 * low, most = banded ? low : Math.max(low, came * 1.02);
  const edge = banded ? top + (floor - top) * 0.36 : top;
  const x = (i) => (inner * i) / points.length;
  const y = (n) => (n <= most ? floor - ((floor - edge) * n) / most : edge - ((edge - top) * (n - most)) / (came - most));
  const steps = (of) => "M0 " + floor + points.map((p, i) => `V${y(of(p)).toFixed(1)}H${x(i + 1).toFixed(1)}`).join("") + `V${floor}Z`;
  const line = (of) => points.map((p, i) => `${i ? "V" : "M0 "}${y(of(p)).toFixed(1)}H${x(i + 1).toFixed(1)}`).join("");
  const shadow = (p) => p.state === "shadow";
  const label = `Tokens of ${points.length} requests: the last one ${last.unsent ? "was not sent, of" : (shadow(last) ? "would have sent " : "sent ") + count(last.sent) + " of"} ${count(last.before)}, with a budget of ${count(budget)}`;
  const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": label, preserveAspectRatio: "none" });
  if (!points.length) return svg;
  if (banded) svg.note = `Above ${count(Math.round(most))} tokens, in the shaded band, the scale is ${Math.round((((came - most) / (edge - top)) * (floor - edge)) / most)} times smaller, so that what was not sent shows.`;
  if (banded) svg.append(s("rect", { class: "band", x: 0, y: top, width: inner, height: edge - top }));
  svg.append(
    s("path", { class: "avoided", d: steps((p) => p.before) }),
    s("path", { class: "sent", d: steps((p) => (shadow(p) ? 0 : p.sent)) }),
    s("path", { class: "would", d: steps((p) => (shadow(p) ? p.sent : 0)) }),
    s("path", { class: "cached", d: steps((p) => (shadow(p) ? 0 : Math.min(Math.max(p.cached, 0), p.sent))) }),
  );
  points.forEach((p, i) => {
    if (p.epoch) svg.append(s("line", { class: "epoch", x1: x(i), x2: x(i), y1: top, y2: floor }));
  });
  svg.append(s("path", { class: "before", d: line((p) => p.before) }));
  for (const level of ["trigger", "land"]) {
    if (open && last[level]) svg.append(s("path", { class: "level", d: line((p) => p[level] || 0) }, s("title", {}, level)));
  }
  if (budget && budget <= most) svg.append(s("path", { class: "budget", d: line((p) => p.budget) }));
  svg.append(s("line", { class: "base", x1: 0, x2: inner, y1: floor + 0.5, y2: floor + 0.5 }));
  for (const [i, p] of open ? points.entries() : []) {
    const said = p.unsent ? `${count(p.before)} came, and no upstream got it` : shadow(p) ? `${count(p.before)} went on as they came; ${count(p.sent)} would have` : `sent ${count(p.sent)} of ${count(p.before)}, ${p.cached < 0 ? "cache unknown" : count(p.cached) + " cached"}`;
    svg.append(s("rect", { class: "hit", x: x(i), y: 0, width: Math.max(1, inner / points.length), height, onclick: () => open(p.id) }, s("title", {}, `request ${i + 1}: ` + said)));
  }
  return svg;
}

// strips draws the messages before and after, each as wide as its tokens.
export function strips(messages, fixed, slot, width) {
  const total = fixed + messages.reduce((n, m) => n + m.before, 0);
  const after = fixed + (slot ? slot.room : 0) + messages.reduce((n, m) => n + m.after, 0);
  const scale = width / Math.max(1, total, after);
  const svg = s("svg", { viewBox: `0 0 ${width} 62`, height: 62, preserveAspectRatio: "none", role: "img",
    "aria-label": `${count(total)} tokens came in ${messages.length} messages, ${count(after)} go on` });
  const draw = (top, of, dim) => {
    let at = 0;
    const block = (kind, n, gone, title) => {
      const w = n * scale;
      if (w > 0) {
        svg.append(s("rect", { class: kind + (gone ? " gone" : ""), x: at.toFixed(2), y: top, width: Math.max(w - (w > 3 ? 0.6 : 0), 0.3).toFixed(2), height: 22 }, s("title", {}, title)));
      }
      at += w;
    };
    block("m-fixed", fixed, false, `tools and framing: ${count(fixed)} tokens`);
    if (slot && slot.at < 0 && !dim) block("m-record", slot.room, false, `the record of what left: ${count(slot.room)} tokens`);
    for (const m of messages) {
      const n = of(m), record = slot && m.origin === slot.at && !dim ? slot.room : 0;
      block("m-" + m.role, n, dim && m.state === "left", `${m.origin < 0 ? "added" : m.origin} ${m.role}: ${count(n)} tokens, ${m.state}`);
      if (record > 0) block("m-record", record, false, `the record of what left: ${count(record)} tokens`);
    }
  };
  draw(4, (m) => m.before, true);
  draw(34, (m) => m.after, false);
  return svg;
}

// meter draws a part of a budget.
export function meter(sent, cached, budget, before, would) {
  const svg = s("svg", { viewBox: "0 0 130 14", class: "meter", height: 14, width: 130, preserveAspectRatio: "none", "aria-hidden": "true" });
  const most = Math.max(budget, sent, 1), x = (n) => (130 * Math.min(n, most)) / most;
  svg.append(s("rect", { class: "m-fixed", x: 0, y: 6, width: x(before), height: 2 }));
  svg.append(s("rect", { class: would ? "would" : "sent", x: 0, y: 3, width: x(sent), height: 8 }));
  if (cached > 0) svg.append(s("rect", { class: "cached", x: 0, y: 3, width: x(Math.min(cached, sent)), height: 8 }));
  svg.append(s("line", { class: "budget", x1: x(budget) - 0.5, x2: x(budget) - 0.5, y1: 0, y2: 14, "stroke-dasharray": "none" }));
  return svg;
}
