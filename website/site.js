// The theme button, the menu button on narrow screens, and the search box (Pagefind).
const root = document.documentElement, $ = (id) => document.getElementById(id);
const base = document.body.dataset.root;

const system = matchMedia("(prefers-color-scheme: dark)");
const theme = () => root.dataset.theme || (system.matches ? "dark" : "light");
function label() { $("theme").textContent = theme() === "dark" ? "Light" : "Dark"; $("theme").title = `Switch to the ${$("theme").textContent.toLowerCase()} theme`; }
$("theme").onclick = () => {
  root.dataset.theme = theme() === "dark" ? "light" : "dark";
  try { localStorage.setItem("theme", root.dataset.theme); } catch { /* storage is off */ }
  label();
};
system.onchange = label;
label();

$("menu").onclick = () => {
  const open = $("sidebar").classList.toggle("open");
  $("menu").setAttribute("aria-expanded", open);
};

const here = document.querySelector('#sidebar [aria-current]');
if (here && here.offsetTop > innerHeight * 0.6) $("sidebar").scrollTop = here.offsetTop - innerHeight / 3;

// Mark the section being read in the table of contents.
const entries = new Map([...document.querySelectorAll("#toc a")].map((a) => [a.hash.slice(1), a]));
function mark() {
  let current = null;
  for (const id of entries.keys()) if ($(id)?.getBoundingClientRect().top < 120) current = id;
  for (const [id, a] of entries) a.toggleAttribute("data-current", id === current);
}
addEventListener("scroll", mark, { passive: true });
mark();

// Formulas within a line do not break; one that is wider than its paragraph scrolls instead.
function widths() {
  for (const formula of document.querySelectorAll(".math.inline mjx-container")) {
    formula.classList.remove("wide");
    formula.classList.toggle("wide", formula.offsetWidth > formula.closest("p, li, td, div, main").clientWidth);
  }
}
if (window.MathJax) {
  MathJax.startup = { pageReady: () => MathJax.startup.defaultPageReady().then(widths) };
  addEventListener("resize", widths);
}

let pagefind = null;
async function search() {
  const query = $("search").value.trim(), box = $("results");
  box.hidden = !query;
  if (!query) return;
  if (!box.hasChildNodes()) box.textContent = "Searching…";
  try {
    pagefind ??= await import(new URL(base + "pagefind/pagefind.js", location.href));
  } catch {
    box.textContent = "Search works when the site is served over http, not from a file.";
    return;
  }
  const found = await pagefind.debouncedSearch(query, {}, 120);
  if (!found) return;
  const pages = await Promise.all(found.results.slice(0, 8).map((r) => r.data()));
  if (query !== $("search").value.trim()) return;
  box.replaceChildren(...pages.map(result));
  if (!pages.length) box.textContent = "Nothing found.";
}
function result(page) {
  const link = document.createElement("a"), title = document.createElement("b"), text = document.createElement("span");
  const part = page.sub_results.toSorted((a, b) => b.locations.length - a.locations.length)[0] ?? page;
  link.href = part.url;
  title.textContent = part.title === page.meta.title ? page.meta.title : `${page.meta.title}: ${part.title}`;
  text.innerHTML = part.excerpt;   // made by Pagefind from our own pages: escaped text with <mark>
  link.append(title, text);
  return link;
}
$("search").oninput = search;
addEventListener("keydown", (event) => {
  if (event.key === "Escape") $("results").hidden = true;
  if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) { event.preventDefault(); $("search").focus(); }
});
addEventListener("click", (event) => { if (!event.target.closest(".search")) $("results").hidden = true; });
