"use strict";
(() => {
  const prefix = "apex2native:";
  const boxes = [...document.querySelectorAll(".tick")];
  const sites = [...document.querySelectorAll(".site")];
  const keys = new Set(boxes.map((box) => box.dataset.key));
  const shown = document.querySelectorAll("#filter input");
  const rule = document.getElementById("rule");
  // A browser may keep nothing for a file: then ticks last as long as the page.
  const kept = new Map();
  const read = (key) => { try { return localStorage.getItem(prefix + key); } catch { return kept.get(key) ?? null; } };
  const write = (key, on) => {
    kept.set(key, on ? "1" : null);
    try { if (on) localStorage.setItem(prefix + key, "1"); else localStorage.removeItem(prefix + key); } catch { /* kept above */ }
  };
  const show = () => {
    const wanted = new Set([...shown].filter((box) => box.checked).map((box) => box.name));
    for (const site of sites) {
      const box = site.querySelector(".tick");
      const kind = site.dataset.kind;
      const asked = kind === "safe" || wanted.has(kind);
      site.classList.toggle("done", box.checked);
      site.hidden = !asked || (box.checked && !wanted.has("ticked")) || (rule.value !== "" && rule.value !== site.dataset.rule);
    }
    for (const row of document.querySelectorAll("tr.notes")) {
      row.hidden = ![...row.querySelectorAll(".site")].some((site) => !site.hidden);
    }
    const done = [...keys].filter((key) => read(key) === "1").length;
    document.getElementById("progress").textContent = keys.size ? `${done} of ${keys.size} looked at` : "Nothing to tick.";
    const meter = document.getElementById("meter");
    meter.max = Math.max(1, keys.size);
    meter.value = done;
  };
  for (const box of boxes) {
    box.checked = read(box.dataset.key) === "1";
    box.addEventListener("change", () => {
      write(box.dataset.key, box.checked);
      for (const other of boxes) if (other.dataset.key === box.dataset.key) other.checked = box.checked;
      show();
    });
  }
  for (const box of shown) box.addEventListener("change", show);
  rule.addEventListener("change", show);
  const open = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    const around = target.closest("details");
    if (around) { around.open = true; target.scrollIntoView({ block: "center" }); }
  };
  addEventListener("hashchange", open);
  show();
  open();
})();
