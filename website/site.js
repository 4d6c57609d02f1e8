// The buttons of a page, the table of contents, previews of what links lead to, and the search box (Pagefind).
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

function menu(open) {   // the list of pages on narrow screens; the page behind it stays where it is
  $("sidebar").classList.toggle("open", open);
  root.classList.toggle("locked", open);
  $("menu").setAttribute("aria-expanded", open);
}
$("menu").onclick = () => menu(!$("sidebar").classList.contains("open"));
matchMedia("(max-width: 52rem)").onchange = () => menu(false);

const here = document.querySelector('#sidebar [aria-current]');
if (here && here.offsetTop > innerHeight * 0.6) $("sidebar").scrollTop = here.offsetTop - innerHeight / 3;

// The table of contents: open beside the text, closed above it on narrow screens; it marks the section being read.
const toc = document.querySelector("#toc details"), wide = matchMedia("(min-width: 78rem)");
wide.onchange = () => { if (toc) toc.open = wide.matches; };
toc?.addEventListener("click", (event) => { if (event.target.closest("a") && !wide.matches) toc.open = false; });
const entries = new Map([...document.querySelectorAll("#toc a")].map((a) => [decodeURIComponent(a.hash.slice(1)), a]));
function mark() {
  let current = null;
  for (const id of entries.keys()) if ($(id)?.checkVisibility() && $(id).getBoundingClientRect().top < 140) current = id;
  for (const [id, a] of entries) a.toggleAttribute("data-current", id === current);
}
addEventListener("scroll", mark, { passive: true });
mark();

// Places that can be linked to, and code that can be copied or put away.
function anchor(place, id) {
  const link = document.createElement("a");
  Object.assign(link, { className: "anchor", href: `#${id}`, textContent: "#", title: "Link to this place" });
  link.setAttribute("aria-label", `Link to: ${place.textContent.trim()}`);
  place.append(" ", link);
}
for (const head of document.querySelectorAll("main :is(h2, h3, h4)[id]")) anchor(head, head.id);
for (const title of document.querySelectorAll("main .theorem[id] > .theorem-title")) anchor(title, title.parentElement.id);
for (const words of document.querySelectorAll("main figure[id] > figcaption")) anchor(words, words.parentElement.id);
for (const code of document.querySelectorAll("main div.sourceCode, main .foot pre")) {
  const button = document.createElement("button");
  Object.assign(button, { className: "copy", type: "button", textContent: "Copy" });
  button.onclick = async () => {
    try { await navigator.clipboard.writeText(code.querySelector("code").textContent); button.textContent = "Copied"; } catch { button.textContent = "Select and copy"; }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  };
  code.classList.add("with-copy");
  code.after(button);
}
// One switch for the code of the page: as it is, hidden, all of it, and again.
const folds = [...document.querySelectorAll(".cell-code > details, .checks > details, details.code")], given = folds.map((fold) => fold.open);
const STATES = { "": ["none", "Hide code"], none: ["all", "Show all code"], all: ["", "Fold code"] };
$("code").hidden = !document.querySelector("main .cell-code");
$("code").onclick = () => {
  const state = root.dataset.code = STATES[root.dataset.code ?? ""][0];
  folds.forEach((fold, i) => { fold.open = state === "all" || (state === "" && given[i]); });
  $("code").textContent = STATES[state][1];
};

// What a link leads to is opened: a proof, or a section on code, checks or misprints.
function reveal(hash) {
  const at = $(decodeURIComponent(hash.slice(1))), next = at?.matches("h2") ? at.nextElementSibling : null;   // a table of notation
  const closed = at?.querySelector(":scope > details:not([open])") ?? (next?.matches("details:not([open])") ? next : at?.closest("details:not([open])"));
  if (!closed) return;
  for (let e = closed; e; e = e.parentElement.closest("details")) e.open = true;
  at.scrollIntoView();
}
addEventListener("hashchange", () => reveal(location.hash));
addEventListener("click", (event) => { const link = event.target.closest('a[href^="#"]'); if (link) reveal(link.hash); });
reveal(location.hash);

// One switch for the long proofs of the page.
const proofs = [...document.querySelectorAll("main .proof > details")];
$("proofs").hidden = !proofs.length;
$("proofs").onclick = () => {
  const open = proofs.some((proof) => !proof.open);
  for (const proof of proofs) proof.open = open;
  $("proofs").textContent = open ? "Fold proofs" : "Open proofs";
};

// Previews: what a citation or a reference leads to, while the pointer or the focus is on it.
const SHOWN = ".theorem, figure, .equation, .csl-entry, [role=doc-endnotes] li, section.footnotes li", popup = document.createElement("div"), others = {};
Object.assign(popup, { id: "preview", role: "tooltip", hidden: true });
document.body.append(popup);
let timer = null, shown = null;
async function preview(link) {
  const url = new URL(link.href), same = url.pathname === location.pathname;
  let page = document;
  if (!same) {
    if (!/^https?:$/.test(url.protocol)) return;
    others[url.pathname] ??= fetch(url.pathname).then((r) => r.ok ? r.text() : "").then((t) => new DOMParser().parseFromString(t, "text/html"));
    try { page = await others[url.pathname]; } catch { return; }
  }
  const at = page.getElementById(decodeURIComponent(url.hash.slice(1)));
  if (!at?.matches(SHOWN) || shown !== link) return;
  const copy = at.cloneNode(true);
  for (const part of copy.querySelectorAll(".anchor, .claims, .copy, .to-proof, .to-statement, [role=doc-backlink]")) part.remove();
  for (const part of [copy, ...copy.querySelectorAll("[id], [tabindex]")]) if (!part.closest("svg")) { part.removeAttribute("id"); part.removeAttribute("tabindex"); }
  for (const part of copy.querySelectorAll("a")) part.replaceWith(...part.childNodes);
  for (const part of copy.querySelectorAll("img")) part.src = new URL(part.getAttribute("src"), url);
  popup.replaceChildren(copy);
  popup.hidden = false;
  if (!same) await window.MathJax?.typesetPromise?.([popup]);
  const place = link.getBoundingClientRect(), left = Math.max(8, Math.min(place.left, innerWidth - popup.offsetWidth - 8));
  const below = place.bottom + popup.offsetHeight + 12 < innerHeight;
  popup.style.left = `${left + scrollX}px`;
  popup.style.top = `${(below ? place.bottom + 6 : Math.max(place.top - popup.offsetHeight - 6, 60)) + scrollY}px`;
  link.setAttribute("aria-describedby", "preview");
}
function away() { clearTimeout(timer); popup.hidden = true; shown?.removeAttribute("aria-describedby"); shown = null; }
function near(event) {
  if (popup.contains(event.target)) return clearTimeout(timer);
  const link = event.target.closest?.('main a[href*="#"]:not(.anchor)');
  if (link === shown) return link && clearTimeout(timer);
  clearTimeout(timer);
  if (!link) { if (shown) timer = setTimeout(away, 250); return; }
  timer = setTimeout(() => { away(); shown = link; preview(link); }, event.type === "focusin" ? 0 : 200);
}
for (const kind of ["mouseover", "focusin"]) addEventListener(kind, near);
addEventListener("click", away);

// Search: names, titles of statements and pages that hold all words come first, then what Pagefind finds; users' pages before the code's.
let pagefind = null, titles = null;
async function named(query) {
  titles ??= await (await fetch(new URL(base + "statements.json", location.href))).json();
  return ranked(query, titles);
}
function inside(url) { return /^\/?(reference|core|ledger|package|house|results\/letters)\b/.test(url); }   // for those who change the code
function ranked(query, titles) {   // rows of statements.json: what a keyword leads to, the code and the chapter of a name, titles
  const parts = (text) => text.split(/[^\p{L}\p{N}_.]+/u).filter(Boolean), asked = query.trim().toLowerCase(), words = parts(asked), last = words.length - 1, out = [];
  const starts = (text, word, whole) => parts(text).some((part) => whole ? part === word : part.startsWith(word));
  for (const [title, page, url, more, names = ""] of titles) {
    const name = names.split(" ").find((one) => one && one.toLowerCase() === asked), reference = url.startsWith("reference/");
    if (name) {
      out.push(reference ? { url: `${url}#${name}`, title: name, excerpt: "", page: `Reference of ${title}`, score: 9 } : { url, title, excerpt: "", page, score: 8 });
      continue;
    }
    const head = title.toLowerCase(), all = `${head} ${page} ${more}`.toLowerCase(), statement = url.includes("#");
    if (!words.every((word, i) => starts(all, word, i < last || /\d/.test(word)))) continue;
    const near = words.filter((word) => starts(head, word, false)).length / words.length, keyword = more.toLowerCase().split(", ").includes(asked);
    const phrase = keyword ? 3 : head.includes(asked) ? 2 : 0;
    out.push({ url, title, excerpt: "", page, score: near + phrase + 0.5 * statement + 0.4 * / of the paper/.test(title) - 2 * inside(url) });
  }
  return out.toSorted((a, b) => b.score - a.score).slice(0, 8);
}
async function search() {
  const query = $("search").value.trim(), box = $("results");
  if (!query) return close();
  box.hidden = false;
  try {
    pagefind ??= await import(new URL(base + "pagefind/pagefind.js", location.href));
  } catch {
    box.hidden = true;
    $("found").hidden = false;
    $("found").textContent = "Search works when the site is served over http, not from a file.";
    return;
  }
  const found = await pagefind.debouncedSearch(query, {}, 120);
  if (!found) return;
  const pages = await Promise.all(found.results.slice(0, 30).map((r) => r.data()));
  if (query !== $("search").value.trim()) return;
  const first = await named(query), there = new Set(first.map((hit) => hit.url));
  const best = [...first, ...hits(pages, query).filter((hit) => !there.has(hit.url.replace(/^\//, "")))].slice(0, 16);
  box.replaceChildren(...best.map(option));
  if (!best.length) box.textContent = "";
  $("search").setAttribute("aria-expanded", best.length > 0);
  $("found").hidden = false;
  $("found").textContent = best.length ? `${best.length} places` : "Nothing found";
  if (!best.length) box.hidden = true;
}
function hits(pages, query) {
  const words = query.toLowerCase().split(/\s+/), escaped = words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const whole = (text) => new RegExp(`(?<![\\p{L}\\p{N}_])${text}(?![\\p{L}\\p{N}_])`, "iu");
  const phrase = whole(escaped.join("\\s+")), each = escaped.map(whole), out = [];
  pages.forEach((page, rank) => {
    const parts = page.sub_results.map((part) => {
      const weight = part.weighted_locations.reduce((sum, l) => sum + l.balanced_score, 0);
      const title = part.title.replaceAll("\u00a0", " "), statement = /#(thm|lem|cor|prp|alg|def)-/.test(part.url);
      const score = (phrase.test(title) ? 1000 + 100 * statement + 50 * / of the paper/.test(title) : each.every((word) => word.test(title)) ? 300 : 0) + 100 * weight / (weight + 20) - 2 * rank - 600 * inside(part.url);
      return { url: part.url, title, excerpt: part.excerpt, page: page.meta.title, score };
    });
    out.push(...parts.toSorted((a, b) => b.score - a.score).slice(0, 4));
  });
  return out.toSorted((a, b) => b.score - a.score).slice(0, 14);
}
function option(hit, i) {
  const link = document.createElement("a"), title = document.createElement("b"), from = document.createElement("small"), text = document.createElement("span");
  Object.assign(link, { id: `hit-${i}`, role: "option", tabIndex: -1, href: new URL(base + hit.url.replace(/^\//, ""), location.href) });
  title.textContent = hit.title;
  if (hit.page !== hit.title) from.textContent = hit.page;
  text.innerHTML = hit.excerpt;   // made by Pagefind from our own pages: escaped text with <mark>
  link.append(title, from, text);
  return link;
}
function choose(step) {
  const options = [...$("results").querySelectorAll("[role=option]")], i = options.findIndex((o) => o.ariaSelected === "true");
  const next = options[(i + step + options.length + (i < 0 && step < 0 ? 1 : 0)) % options.length];
  options[i]?.removeAttribute("aria-selected");
  if (!next) return;
  next.ariaSelected = "true";
  next.scrollIntoView({ block: "nearest" });
  $("search").setAttribute("aria-activedescendant", next.id);
}
function close() { $("results").hidden = $("found").hidden = true; $("search").setAttribute("aria-expanded", false); $("search").removeAttribute("aria-activedescendant"); }
$("search").oninput = search;
$("search").onkeydown = (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); choose(event.key === "ArrowDown" ? 1 : -1); }
  if (event.key === "Enter") ($("results").querySelector("[aria-selected]") ?? $("results").querySelector("[role=option]"))?.click();
};
addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    close();
    away();
    if ($("sidebar").classList.contains("open")) { menu(false); $("menu").focus(); }
    if (toc?.open && !wide.matches) { toc.open = false; if (toc.contains(document.activeElement)) toc.firstElementChild.focus(); }
  }
  if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) { event.preventDefault(); $("search").focus(); }
});
addEventListener("click", (event) => { if (!event.target.closest(".search") || event.target.closest("[role=option]")) close(); });
