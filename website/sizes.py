"""How long the pages of a built site are, as a browser shows them: python -m website.sizes _docs website/sizes.json.

It needs Chromium (`chromium`, `chromium-headless-shell` or what CHROMIUM names); nothing of the build does. A page is measured when its
formulas are set, at the widths of a desk and of a phone. Each row: pixels at 1400 and at 390, words, share of the height in open code
cells at 1400, figures, exercises; *before* is what stood in the table for comparison, and stays.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WIDTHS = (1400, 390)
COLUMNS = ("px at 1400", "px at 390", "words", "code", "figures", "exercises")
SCRIPT = """
<!doctype html><body><script>
const sleep = ms => new Promise(done => setTimeout(done, ms));
async function size(page, width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  frame.src = page;
  const loaded = new Promise(done => frame.onload = done);
  document.body.append(frame);
  await loaded;
  const inside = frame.contentWindow, top = frame.contentDocument;
  for (let i = 0; i < 300 && top.querySelector('script[src*="mathjax"]') && !inside.MathJax?.startup?.promise; i++) await sleep(20);
  await inside.MathJax?.startup?.promise;
  await sleep(150);
  const main = top.querySelector("main") ?? top.body, height = main.scrollHeight;
  const open = what => [...main.querySelectorAll(what)].filter(e => e.checkVisibility());
  const tall = what => open(what).reduce((sum, e) => sum + e.getBoundingClientRect().height, 0);
  const items = [...main.querySelectorAll("h2")].filter(h => h.textContent.trim().startsWith("Exercises"))
    .map(h => { let e = h; while (e && e.tagName != "OL") e = e.nextElementSibling; return e ? e.children.length : 0; });
  const text = main.cloneNode(true);
  text.querySelectorAll("mjx-container, script, style, pre, svg, .math").forEach(e => e.remove());
  const found = [height, text.textContent.split(/\\s+/).filter(w => /[A-Za-z]/.test(w)).length, tall("pre.sourceCode") / height,
                 main.querySelectorAll("figure").length, items.reduce((a, b) => a + b, 0)];
  frame.remove();
  return found;
}
(async () => {
  const sizes = {};
  for (const page of await (await fetch("/pages.json")).json()) {
    const [px, words, code, figures, exercises] = await size("/" + page, WIDE), [small] = await size("/" + page, NARROW);
    sizes[page.replace(".html", "")] = [px, small, words, Math.round(100 * code), figures, exercises];
  }
  await fetch("/sizes", {method: "POST", body: JSON.stringify(sizes)});
})();
</script>
""".replace("WIDE", str(WIDTHS[0])).replace("NARROW", str(WIDTHS[1]))


def browser() -> str:
    names = (os.environ.get("CHROMIUM", ""), "chromium-headless-shell", "chromium", "google-chrome")
    found = next((path for name in names if name and (path := shutil.which(name))), None)
    if found is None: raise SystemExit("no Chromium was found: install it, or name it in CHROMIUM")
    return found


def measure(site: Path, pages: list[str]) -> dict[str, list[int]]:
    "The row of each page of a site: of all those in `pages`, as addresses within it."
    done, sizes = threading.Event(), {}

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *args): super().__init__(*args, directory=str(site))

        def log_message(self, *args): pass

        def do_GET(self):
            own = {"/measure.html": SCRIPT, "/pages.json": json.dumps(pages)}
            if self.path not in own: return super().do_GET()
            self.send_response(200)
            self.send_header("Content-Type", "text/html" if self.path.endswith("html") else "application/json")
            self.end_headers()
            self.wfile.write(own[self.path].encode())

        def do_POST(self):
            sizes.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()
            done.set()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as profile:
        command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--window-size=1500,1000",
                   "--remote-debugging-port=0", f"http://127.0.0.1:{server.server_address[1]}/measure.html"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            if not done.wait(60 + 30 * len(pages)): raise SystemExit("the browser did not report the sizes in time")
        finally:
            os.killpg(process.pid, signal.SIGTERM)  # with what a wrapper has started
            process.wait()
    server.shutdown()
    return sizes


def main(site: str, table: str) -> None:
    pages = [path.relative_to(site).as_posix() for path in sorted(Path(site).rglob("*.html"))]
    pages = [page for page in pages if not page.startswith("reference/")]
    sizes, file = measure(Path(site), pages), Path(table)
    before = json.loads(file.read_text(encoding="utf-8"))["pages"] if file.exists() else {}
    found = {page: {"before": before.get(page, {}).get("before"), "now": row} for page, row in sizes.items()}
    rows = ",\n".join(f"  {json.dumps(page)}: {json.dumps(row)}" for page, row in found.items())
    file.write_text(f'{{\n "columns": {json.dumps(COLUMNS)},\n "pages": {{\n{rows}\n }}\n}}\n', encoding="utf-8")
    print(f"{len(sizes)} pages, {sum(row[0] for row in sizes.values()):,} px at 1400, {sum(row[1] for row in sizes.values()):,} px at 390")


if __name__ == "__main__": main(*sys.argv[1:])
