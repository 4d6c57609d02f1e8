// Figures of the first chapters that answer to the hand. Each fills an empty box of its page; without scripts the page is whole without it.
(() => {
  "use strict";

  // The arithmetic: Algorithm 1 of Ito et al. (2017); tests/test_play.py compares it with the Python learner.

  function random(seed) {   // mulberry32: a number from 0 to 1 at each call
    return () => {
      seed = (seed + 0x6d2b79f5) | 0;
      let a = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      a = (a + Math.imul(a ^ (a >>> 7), 61 | a)) ^ a;
      return ((a ^ (a >>> 14)) >>> 0) / 4294967296;
    };
  }

  function normal(draw) { return Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw()); }

  function observe(w, budget, top, draw) {   // the features of largest weight, then others by lot
    const order = [...w.keys()].sort((i, j) => Math.abs(w[j]) - Math.abs(w[i]) || i - j);
    for (let a = top; a < budget; a++) {
      const b = a + Math.floor(draw() * (order.length - a));
      [order[a], order[b]] = [order[b], order[a]];
    }
    return order.slice(0, budget);
  }

  function algorithm1(X, y, { budget, top, rate = 0, radius = 1, seed = 0 }) {   // rate 0: the adaptive step
    const d = X[0].length, m = d - top, r = budget - top, draw = random(seed), h = new Array(d).fill(0);
    const p = r / m, q = m > 1 ? r * (r - 1) / (m * (m - 1)) : p;
    const bought = [], predictions = [], lambdas = [];
    let squares = 0;
    X.forEach((x, t) => {
      const lambda = rate ? rate * Math.sqrt(t + 1) : Math.sqrt(squares) / radius;
      const most = Math.max(lambda, Math.hypot(...h) / radius);
      const w = h.map((a) => (most ? -a / most : 0));
      const S = observe(w, budget, top, draw);
      const chance = (a, b) => (a === b ? (a < top ? 1 : p) : a < top && b < top ? 1 : a < top || b < top ? p : q);   // places in S
      predictions.push(S.reduce((sum, i) => sum + w[i] * x[i], 0));
      S.forEach((i, a) => {
        let g = -y[t] * x[i] / chance(a, a);
        S.forEach((j, b) => { if (chance(a, b)) g += w[j] * x[i] * x[j] / chance(a, b); });   // pairs never seen together are left out
        h[i] += 2 * g;
        squares += 4 * g * g;
      });
      bought.push(S);
      lambdas.push(lambda);
    });
    return { bought, predictions, lambdas, h };
  }

  function stream(T, d, weights, correlation, noise, seed) {
    const draw = random(seed), X = [], y = [];
    for (let t = 0; t < T; t++) {
      const common = Math.sqrt(correlation) * normal(draw), own = Math.sqrt(1 - correlation);
      const x = Array.from({ length: d }, () => common + own * normal(draw));
      X.push(x);
      y.push(x.reduce((sum, a, i) => sum + a * weights[i], 0) + noise * normal(draw));
    }
    return { X, y };
  }

  function bestTwo(X, y) {   // least loss of two features in hindsight, by trying all pairs
    const dot = (f, g) => X.reduce((sum, x, t) => sum + f(x, t) * g(x, t), 0), label = (x, t) => y[t];
    let best = Infinity;
    for (let i = 0; i < X[0].length; i++) for (let j = 0; j < i; j++) {
      const u = (x) => x[i], v = (x) => x[j];
      const a = dot(u, u), b = dot(u, v), c = dot(v, v), e = dot(u, label), f = dot(v, label), det = a * c - b * b;
      const gain = det > 1e-9 ? (c * e * e - 2 * b * e * f + a * f * f) / det : a + c > 0 ? (a > c ? e * e / a : f * f / c) : 0;
      best = Math.min(best, dot(label, label) - gain);
    }
    return Math.max(best, 0);
  }

  function price(d, budget, top) {   // the two parts of the mean square of a gradient, Theorem DE 1
    const m = d - top, r = budget - top;
    return { single: 15 * m / r, pairs: m * (m - 1) / (r * (r - 1)) };
  }

  function cutRatio(a, b) {   // of squared distances to (0, 1), when the smaller of the weights a, b is cut off
    const before = a * a + (b - 1) ** 2;
    return { cut: a > b ? [a, 0] : [0, b], ratio: before ? (a > b ? a * a + 1 : (b - 1) ** 2) / before : 1 };
  }

  if (typeof module !== "undefined") module.exports = { random, algorithm1, stream, bestTwo, price, cutRatio };

  // The figures.

  const COLORS = ["#8a8a8a", "#b8659a", "#1f8fd0", "#d9650a"], DASHES = ["2 3", "8 3 2 3", "7 4", ""];
  const STYLE = `.play { margin: 1.4rem 0; padding: 0.9rem 1rem; border: 1px solid rgba(130, 130, 140, 0.5); border-radius: 0.4rem; font: 0.88rem/1.5 system-ui, sans-serif; }
  .play h3 { margin: 0 0 0.4rem; font-size: 1rem; } .play p { margin: 0.4rem 0; }
  .play .controls { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 0.4rem 1.2rem; margin: 0.6rem 0; }
  .play label { display: block; } .play input[type="range"] { width: 100%; margin: 0; accent-color: #1f8fd0; }
  .play button, .play select { font: inherit; color: inherit; background: transparent; border: 1px solid currentColor; border-radius: 0.25rem; padding: 0.2rem 0.7rem; }
  .play option { color: #1c1c1c; background: #fff; } .play button:disabled { opacity: 0.45; }
  .play svg, .play canvas { display: block; width: 100%; height: auto; } .play svg text { fill: currentColor; font: 12px system-ui, sans-serif; }
  .play .rounds { overflow-x: auto; } .play table { border-collapse: collapse; margin: 0.5rem 0; font-variant-numeric: tabular-nums; width: auto; }
  .play td, .play th { padding: 0.1rem 0.2rem; text-align: center; border: 0; min-width: 1.9rem; }
  .play td button { width: 100%; min-width: 1.8rem; min-height: 1.8rem; padding: 0; } .play td.open { background: rgba(31, 143, 208, 0.22); border-radius: 0.2rem; }
  .play td.shut { opacity: 0.45; }
  @media (max-width: 30rem) { .play :is(td, th):is(:nth-child(10), :nth-child(12)) { display: none; } .play :is(td, th) { min-width: 1.6rem; padding: 0.1rem; } .play td button { min-width: 1.6rem; } }`;

  function make(tag, attributes = {}, ...children) {
    const drawn = ["svg", "path", "rect", "circle", "line", "text", "polygon", "polyline"].includes(tag);
    const node = drawn ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  function slider(name, [low, high, step, value], show, change) {
    const input = make("input", { type: "range", min: low, max: high, step, value }), output = make("output");
    const tell = () => { output.textContent = show(+input.value); input.setAttribute("aria-valuetext", show(+input.value)); };
    input.addEventListener("input", () => { tell(); change(); });
    tell();
    const node = make("label", {}, `${name}: `, output, input);
    return { node, get value() { return +input.value; }, limit(least, most) { input.min = least; input.max = most; tell(); }, set(v) { input.value = v; tell(); } };
  }

  function width(box) { return Math.max(300, Math.min(620, box.clientWidth - 34)); }   // of a figure, in its own units: its words keep their size

  function game(box) {
    const ROUNDS = 10, D = 8, OPEN = 3, fixed = (a) => a.toFixed(1).replace("-", "−");
    const news = make("p", { "aria-live": "polite" }), body = make("tbody"), head = make("tr", {}, make("th", { scope: "col" }, "t"));
    for (let i = 1; i <= D; i++) head.append(make("th", { scope: "col" }, String(i)));
    for (const name of ["guess", "label", "loss"]) head.append(make("th", { scope: "col" }, name));
    const guess = slider("Your prediction", [-10, 10, 0.5, 0], fixed, () => {}), predict = make("button", { type: "button" }, "Predict");
    const again = make("button", { type: "button" }, "New game");
    box.append(make("h3", {}, "Ten rounds"), make("p", {}, "Open three of eight boxes, set your prediction, and see the label. It depends on two of the features, always in the same way, and a little noise."),
      make("div", { class: "rounds" }, make("table", {}, make("thead", {}, head), body)), make("div", { class: "controls" }, guess.node), make("p", {}, predict, " ", again), news);
    let data, weights, t, losses, opened, cells;

    function start() {
      const draw = random((Math.random() * 2 ** 31) | 0), a = Math.floor(draw() * D), b = (a + 1 + Math.floor(draw() * (D - 1))) % D;
      weights = new Array(D).fill(0);
      weights[a] = draw() < 0.5 ? 2 : -2;
      weights[b] = draw() < 0.5 ? 1 : -1;
      const X = Array.from({ length: ROUNDS }, () => Array.from({ length: D }, () => Math.floor(draw() * 7) - 3));
      data = { X, y: X.map((x) => x.reduce((sum, v, i) => sum + v * weights[i], 0) + 0.4 * normal(draw)) };
      [t, losses] = [0, 0];
      body.replaceChildren();
      news.textContent = "";
      next();
    }

    function next() {
      opened = new Set();
      cells = data.X[t].map((value, i) => {
        const button = make("button", { type: "button", "aria-label": `Open feature ${i + 1}` }, "?"), cell = make("td", {}, button);
        button.addEventListener("click", () => {
          opened.add(i);
          cell.textContent = String(value).replace("-", "−");
          cell.className = "open";
          const left = cells.filter((c) => c.firstElementChild);
          if (opened.size === OPEN) for (const c of left) c.firstElementChild.disabled = true;
          predict.disabled = opened.size < OPEN;
          news.textContent = `Feature ${i + 1} is ${cell.textContent}. ${opened.size < OPEN ? `${OPEN - opened.size} more to open.` : "Now predict."}`;
          (opened.size < OPEN ? (cells.slice(i).find((c) => c.firstElementChild) ?? left[0]).firstElementChild : predict).focus();
        });
        return cell;
      });
      body.append(make("tr", {}, make("th", { scope: "row" }, String(t + 1)), ...cells));
      guess.set(0);
      predict.disabled = true;
    }

    predict.addEventListener("click", () => {
      const loss = (guess.value - data.y[t]) ** 2;
      losses += loss;
      for (const c of cells) if (c.firstElementChild) { c.textContent = "·"; c.className = "shut"; }
      body.lastChild.append(...[guess.value, data.y[t], loss].map((a) => make("td", {}, fixed(a))));
      t++;
      const best = bestTwo(data.X.slice(0, t), data.y.slice(0, t));
      news.textContent = `The label is ${fixed(data.y[t - 1])}. Your loss so far is ${fixed(losses)}. The best two features in hindsight, all values known, come to ${fixed(best)}: your regret is ${fixed(losses - best)}.`;
      if (t < ROUNDS) { next(); cells[0].firstElementChild.focus(); return; }
      predict.disabled = true;
      const rule = weights.flatMap((w, i) => (w ? [`${fixed(w).replace(".0", "")} × feature ${i + 1}`] : [])).join(" and ");
      news.textContent += ` The label was ${rule}, added, plus noise.`;
      again.focus();
    });
    again.addEventListener("click", start);
    start();
  }

  function race(box) {
    const T = 3000, D = 20, weights = new Array(D).fill(0), names = ["greedy", "uniform", "one random", "two or more random"];
    [weights[3], weights[10], weights[15]] = [0.6, -0.5, 0.4];
    let seed = 1, wait;
    const soon = () => { cancelAnimationFrame(wait); wait = requestAnimationFrame(draw); };
    const budget = slider("Budget", [3, 12, 1, 8], (v) => `${v} of ${D}`, soon), top = slider("Favourites of the last learner", [0, 10, 1, 3], String, soon);
    const correlation = slider("Correlation", [0, 0.9, 0.1, 0.5], (v) => v.toFixed(1), soon), noise = slider("Noise", [0, 1, 0.1, 0.2], (v) => v.toFixed(1), soon);
    const shown = make("select", {}, ...names.map((name, i) => make("option", { value: i }, name))), fresh = make("button", { type: "button" }, "New stream");
    shown.value = 3;
    const canvas = make("canvas", { role: "img", width: 600, height: 160 }), plot = make("svg", { role: "img" }), said = make("p", { "aria-live": "polite" });
    box.append(make("h3", {}, "Four learners, 3000 rounds"), make("p", {}, "Twenty features, of which three matter (orange when bought). What is bought, and the regret against the true weights:"),
      make("div", { class: "controls" }, budget.node, top.node, correlation.node, noise.node), make("p", {}, make("label", {}, "Purchases of ", shown)), canvas, plot, said, make("p", {}, fresh));
    shown.addEventListener("change", soon);
    fresh.addEventListener("click", () => { seed++; soon(); });

    function draw() {
      const k = budget.value;
      top.limit(0, k - 2);
      const { X, y } = stream(T, D, weights, correlation.value, noise.value, seed);
      const best = X.map((x, t) => (x.reduce((sum, a, i) => sum + a * weights[i], 0) - y[t]) ** 2);
      const runs = [k, 0, k - 1, top.value].map((favourites) => algorithm1(X, y, { budget: k, top: favourites, seed }));
      const regrets = runs.map(({ predictions }) => { let sum = 0; return predictions.map((a, t) => (sum += (a - y[t]) ** 2 - best[t])); });
      raster(runs[shown.value].bought);
      curves(regrets);
      const ends = regrets.map((r, i) => `${names[i]} ${r[T - 1].toFixed(0)}`).join(", ");
      said.textContent = `Regret after ${T} rounds: ${ends.replaceAll("-", "−")}.`;
      plot.setAttribute("aria-label", `Regret curves. ${said.textContent}`);
      canvas.setAttribute("aria-label", `Purchases of ${names[shown.value]}: 20 features by 3000 rounds.`);
    }

    function raster(bought) {
      const columns = 150, wide = 600 / columns, high = 160 / D, paint = canvas.getContext("2d");
      paint.clearRect(0, 0, 600, 160);
      for (let c = 0; c < columns; c++) for (const i of bought[Math.floor(c * T / columns)]) {
        paint.fillStyle = weights[i] ? COLORS[3] : COLORS[0];
        paint.fillRect(c * wide, i * high + 1, wide - 0.6, high - 2);
      }
    }

    function curves(regrets) {
      const high = Math.max(1, ...regrets.map((r) => r[T - 1])), low = Math.min(0, ...regrets.map((r) => r[T - 1]));
      const W = width(box), place = (v) => 200 - 185 * (v - low) / (high - low);
      plot.setAttribute("viewBox", `0 0 ${W} 230`);
      plot.replaceChildren(make("line", { x1: 45, x2: W - 10, y1: place(0), y2: place(0), stroke: "currentColor", "stroke-opacity": 0.5 }),
        make("text", { x: 40, y: place(high) + 4, "text-anchor": "end" }, high.toFixed(0)), make("text", { x: 40, y: place(0) + 4, "text-anchor": "end" }, "0"),
        make("text", { x: W - 10, y: 222, "text-anchor": "end" }, "round 3000"));
      regrets.forEach((r, i) => {
        const points = r.flatMap((v, t) => (t % 15 ? [] : [`${(45 + (W - 55) * t / T).toFixed(1)},${Math.max(2, Math.min(228, place(v))).toFixed(1)}`])).join(" ");
        plot.append(make("polyline", { points, fill: "none", stroke: COLORS[i], "stroke-width": 2, "stroke-dasharray": DASHES[i] }));
        plot.append(make("line", { x1: 60, x2: 90, y1: 14 + 18 * i, y2: 14 + 18 * i, stroke: COLORS[i], "stroke-width": 2.5, "stroke-dasharray": DASHES[i] }));
        plot.append(make("text", { x: 97, y: 18 + 18 * i }, names[i]));
      });
    }
    draw();
  }

  function prices(box) {
    const plot = make("svg", { role: "img" }), said = make("p", { "aria-live": "polite" });
    const d = slider("Features", [5, 60, 1, 20], String, draw), budget = slider("Budget", [2, 20, 1, 12], String, draw), top = slider("Favourites", [0, 10, 1, 3], String, draw);
    box.append(make("h3", {}, "The price of favourites"), make("p", {}, "Blue is for single features, orange for pairs; the bar of your choice stands out."),
      make("div", { class: "controls" }, d.node, budget.node, top.node), plot, said);
    function draw() {
      budget.limit(2, d.value);
      top.limit(0, budget.value - 2);
      const n = budget.value - 1, all = Array.from({ length: n }, (_, k) => price(d.value, budget.value, k)), high = Math.max(...all.map((a) => a.single + a.pairs)), W = width(box), wide = (W - 60) / n;
      plot.setAttribute("viewBox", `0 0 ${W} 230`);
      plot.replaceChildren(make("text", { x: 40, y: 16, "text-anchor": "end" }, high.toFixed(0)), make("text", { x: W - 10, y: 225, "text-anchor": "end" }, `${n - 1} favourites`), make("text", { x: 50, y: 225 }, "0"));
      all.forEach(({ single, pairs }, k) => {
        const mine = k === top.value, at = { x: 50 + k * wide, width: Math.max(wide - 2, 1), opacity: mine ? 1 : 0.4 }, low = 195 * single / high, tall = 195 * pairs / high;
        plot.append(make("rect", { ...at, y: 205 - low, height: low, fill: COLORS[2] }), make("rect", { ...at, y: 205 - low - tall, height: tall, fill: COLORS[3] }));
      });
      const { single, pairs } = all[top.value];
      said.textContent = `${top.value} favourites and ${budget.value - top.value} random: 15/p = ${single.toFixed(1)}, 1/q* = ${pairs.toFixed(1)}, together ${(single + pairs).toFixed(1)}.`;
      plot.setAttribute("aria-label", `Bars over the number of favourites. ${said.textContent}`);
    }
    draw();
  }

  function cutting(box) {
    const plot = make("svg", { viewBox: "0 0 300 290", role: "img", style: "max-width: 26rem; touch-action: none; cursor: crosshair" }), said = make("p", { "aria-live": "polite" });
    const first = slider("Weight 1", [0, 1.2, 0.01, 0.62], (v) => v.toFixed(2), draw), second = slider("Weight 2", [0, 1.2, 0.01, 0.61], (v) => v.toFixed(2), draw);
    box.append(make("h3", {}, "Drag the weights"), make("p", {}, "Move w with the pointer or with the sliders. The cut keeps the larger weight; u is where w should be."), plot, make("div", { class: "controls" }, first.node, second.node), said);
    const X = (a) => 30 + 200 * a, Y = (b) => 260 - 200 * b;
    function draw() {
      const [a, b] = [first.value, second.value], { cut, ratio } = cutRatio(a, b);
      const dot = (x, y, color, name) => [make("circle", { cx: X(x), cy: Y(y), r: 6, fill: color }), make("text", { x: X(x) + 9, y: Y(y) - 7 }, name)];
      const join = (x, y, color, dash) => make("line", { x1: X(0), y1: Y(1), x2: X(x), y2: Y(y), stroke: color, "stroke-width": 2, "stroke-dasharray": dash });
      plot.replaceChildren(make("polygon", { points: `${X(0)},${Y(0)} ${X(1.2)},${Y(0)} ${X(1.2)},${Y(1.2)}`, fill: "currentColor", opacity: 0.09 }),
        make("path", { d: `M${X(0)} ${Y(1.25)}V${Y(0)}H${X(1.25)}`, fill: "none", stroke: "currentColor", "stroke-opacity": 0.5 }), make("text", { x: X(0.9), y: Y(0) + 20 }, "weight 1"), make("text", { x: X(0) + 6, y: Y(1.22) }, "weight 2"),
        join(a, b, COLORS[2], ""), join(...cut, COLORS[3], "6 4"), ...dot(0, 1, "#00a078", "u"), ...dot(...cut, COLORS[3], "cut"), ...dot(a, b, COLORS[2], "w"));
      said.textContent = `The cut multiplies the squared distance to u by ${ratio.toFixed(2)}; the most is 2.618.`;
      plot.setAttribute("aria-label", `w at ${a}, ${b}. ${said.textContent}`);
    }
    function move(event) {
      if (event.type === "pointermove" && !event.buttons) return;
      const frame = plot.getBoundingClientRect(), unit = 300 / frame.width;
      first.set(((event.clientX - frame.left) * unit - 30) / 200);
      second.set((260 - (event.clientY - frame.top) * unit) / 200);
      draw();
    }
    for (const name of ["pointerdown", "pointermove"]) plot.addEventListener(name, move);
    draw();
  }

  if (typeof document !== "undefined") {
    const kinds = { "play-game": game, "play-race": race, "play-price": prices, "play-cut": cutting };
    document.head.append(make("style", {}, STYLE));
    for (const [id, fill] of Object.entries(kinds)) {
      const box = document.getElementById(id);
      if (!box) continue;
      box.classList.add("play");
      fill(box);
    }
  }
})();
