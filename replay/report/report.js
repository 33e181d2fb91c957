"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
// A choice shows the figures of its section that match all choices there.
for (const section of ["scatters", "timelines"]) {
  const box = document.getElementById(section);
  if (!box) continue;
  const picks = [...box.previousElementSibling.querySelectorAll("[data-pick]")];
  const show = () => {
    for (const f of box.children) f.hidden = !picks.every(p => f.dataset[p.dataset.pick] === p.value);
  };
  for (const p of picks) p.addEventListener("change", show);
  show();
}
for (const b of document.querySelectorAll("[data-off]")) {
  b.addEventListener("click", () => {
    const off = document.body.classList.toggle("off" + b.dataset.off % 8);
    b.setAttribute("aria-pressed", String(!off));
  });
}
// The tooltip of a timeline: what each policy sent at the request under the pointer.
const thousands = n => n.toLocaleString("en");
for (const pad of document.querySelectorAll(".pad")) {
  const figure = pad.closest("figure"), cross = pad.previousElementSibling, d = data[figure.dataset.key];
  let tip;
  const hide = () => { tip?.remove(); tip = null; cross.setAttribute("visibility", "hidden"); };
  pad.addEventListener("pointerleave", hide);
  pad.addEventListener("pointermove", e => {
    const r = pad.getBoundingClientRect(), n = d.full.length, x0 = +pad.getAttribute("x"), w = +pad.getAttribute("width");
    const k = Math.min(n, Math.max(1, Math.round((e.clientX - r.left) / r.width * Math.max(n, 2))));
    const x = x0 + k / Math.max(n, 2) * w;
    cross.setAttribute("x1", x); cross.setAttribute("x2", x); cross.setAttribute("visibility", "visible");
    if (!tip) { tip = document.createElement("div"); tip.className = "tip"; figure.append(tip); }
    tip.replaceChildren();
    const row = (name, value, cls) => {
      const line = document.createElement("div"), v = document.createElement("b");
      v.textContent = value;
      line.append(v, name);
      if (cls) line.className = cls;
      tip.append(line);
    };
    row("request " + k, "tokens");
    row("everything", thousands(d.full[k - 1]));
    for (const l of d.lines) row(l.name + (l.epoch.includes(k) ? " ●" : ""), thousands(l.sent[k - 1]), l.class);
    const f = figure.getBoundingClientRect(), left = e.clientX - f.left;
    tip.style.top = "40px";
    tip.style.left = (left > f.width / 2 ? Math.max(0, left - tip.offsetWidth - 14) : Math.min(left + 14, f.width - tip.offsetWidth)) + "px";
  });
}
// A link to a request opens it.
const reveal = () => {
  const target = /^#r\d+$/.test(location.hash) && document.getElementById(location.hash.slice(1));
  if (target) target.open = true;
};
addEventListener("hashchange", reveal);
reveal();
