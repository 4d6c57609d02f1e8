// Search and filter of the page of all claims: by words, paper, tier, status and resolution. Without it the page shows the full tables.
(() => {
  const place = document.getElementById("ledger-filter");
  if (!place) return;
  const rows = [], tables = new Map();   // table -> its heading
  let heading = null;
  for (const node of document.querySelectorAll("main h2, main table")) {
    if (node.tagName === "H2") { heading = node; continue; }
    for (const row of node.querySelectorAll("tr:has(.status)")) {
      const read = (name) => row.querySelector("." + name).textContent.trim();
      rows.push({ row, table: node, text: (heading.textContent + " " + row.textContent).toLowerCase(), paper: heading.textContent.trim(), tier: read("tier").replace(/ \(.*/, ""),
                  status: read("status"), resolution: read("resolution").replace(/,.*/, "") });
      tables.set(node, heading);
    }
  }
  const form = document.createElement("form"), count = document.createElement("output"), boxes = {};
  form.style.cssText = "display: flex; flex-wrap: wrap; gap: 0.6rem 1rem; align-items: end; font: 0.85rem/1.4 system-ui, sans-serif; margin: 1.2rem 0";
  const named = document.createElement("label"), search = document.createElement("input");
  search.type = "search";
  search.placeholder = "regret, A5, Dantzig";
  search.style.cssText = "display: block; font: inherit; width: 15rem; padding: 0.25rem; background: Canvas; color: CanvasText";
  named.append("Search", search);
  form.append(named);
  const order = { resolution: ["tight", "within 2", "within 10", "order only", "equality"] };
  for (const name of ["paper", "tier", "status", "resolution"]) {
    const label = document.createElement("label"), box = boxes[name] = document.createElement("select");
    const found = [...new Set(rows.map((r) => r[name]))];
    const values = (order[name] ?? found).filter((v) => found.includes(v));
    box.append(new Option("all", ""), ...values.map((v) => new Option(`${v} (${rows.filter((r) => r[name] === v).length})`, v)));
    box.style.cssText = "display: block; font: inherit; max-width: 15rem; padding: 0.25rem; color: inherit; background: Canvas; color: CanvasText";
    label.append(name[0].toUpperCase() + name.slice(1), box);
    form.append(label);
  }
  const reset = document.createElement("button");
  reset.type = "reset";
  reset.textContent = "Show all";
  reset.style.cssText = "font: inherit; padding: 0.25rem 0.7rem";
  count.style.cssText = "padding: 0.3rem 0";
  form.append(reset, count);
  place.append(form);

  function apply() {
    const left = new Set();
    let shown = 0;
    const asked = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = asked.length > 0 || Object.values(boxes).some((box) => box.value);
    for (const r of rows) {
      r.row.hidden = Object.entries(boxes).some(([name, box]) => box.value && box.value !== r[name]) || !asked.every((word) => r.text.includes(word));
      if (!r.row.hidden) { left.add(r.table); shown += 1; }
    }
    for (const [table, title] of tables) {
      const fold = table.closest("details");
      table.hidden = title.hidden = (table.closest(".callout") ?? table).hidden = !left.has(table);
      if (fold && chosen) fold.open = !table.hidden;
      for (let p = table.closest(".cell")?.previousElementSibling; p && p !== title && p.tagName === "P"; p = p.previousElementSibling) p.hidden = table.hidden;
    }
    count.textContent = `${shown} of ${rows.length} claims`;
  }
  form.addEventListener("change", apply);
  search.addEventListener("input", apply);
  form.addEventListener("reset", () => setTimeout(apply));
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();

  // A link to a row that a filter hides shows it again.
  addEventListener("hashchange", () => {
    if (document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("tr")?.hidden) { form.reset(); setTimeout(() => location.replace(location.hash)); }
  });
})();
