// The parts of the page that show: a tree, the list of sentences, the charts of the learning. Text stays text.
import { childrenOf, edgePath, layOut, make, textWidth } from "./layout.js";

const WORD = 16, LABEL = 13, PLATE = 22, LEVEL = 40, GAP = 14, SPOKEN = 40;
const WEAK = 0.7; // the probability below which a phrase is marked
const FAMILY = 'system-ui, "Segoe UI", Helvetica, Arial, "Noto Sans", sans-serif';

export function element(name, attributes = {}, ...content) {
  const found = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  found.append(...content);
  return found;
}

// A tree as the server sends it, with what follows from the sizes of its subtrees.
export class Shape {
  constructor({ labels, sizes, words, fills }) {
    Object.assign(this, { labels, sizes, words, fills });
    this.starts = [];
    let n = 0;
    for (const size of sizes) { this.starts.push(n); if (size === 1) n++; }
    this.starts.push(n);
    this.parents = Array(sizes.length).fill(-1);
    sizes.forEach((_, i) => { for (const child of childrenOf(sizes, i)) this.parents[child] = i; });
    this.leaves = sizes.flatMap((size, i) => (size === 1 ? [i] : []));
  }

  end(i) { return this.starts[i + this.sizes[i]]; }
  children(i) { return childrenOf(this.sizes, i); }
  isTrace(i) { return this.words.slice(this.starts[i], this.end(i)).every((_, k) => this.labels[this.leaves[this.starts[i] + k]] === "-NONE-"); }
  text(i, most = SPOKEN) {
    const words = this.words.slice(this.starts[i], this.end(i));
    return words.slice(0, most).join(" ") + (words.length > most ? " …" : "");
  }
}

// The picture of a tree. Its `nodes` are elements in pre-order; what is said of nodes is shown by their classes.
export class Picture {
  constructor(figure, name) { this.scroll = figure.querySelector(".scroll"); this.name = name; }

  show(shape, { rtl = false, links = [], signs = {} } = {}) {
    Object.assign(this, { shape, rtl });
    const label = (i) => (signs[i] ? `${signs[i]} ` : "") + (shape.labels[i] || "·");
    const plates = shape.sizes.map((_, i) => textWidth(label(i), LABEL, FAMILY) + 12);
    const widths = plates.map((width, i) => (shape.sizes[i] > 1 ? width : Math.max(width, textWidth(shape.words[shape.starts[i]], WORD, FAMILY))));
    const layout = layOut(shape.sizes, widths, GAP);
    const x = (i) => Math.round(rtl ? layout.width - layout.centres[i] : layout.centres[i]);
    const bottom = (Math.max(-1, ...layout.depths.filter((_, i) => shape.sizes[i] > 1)) + 1) * LEVEL;
    const y = (i) => (shape.sizes[i] === 1 ? bottom : layout.depths[i] * LEVEL);
    const low = Math.max(0, ...links.map(([a, b]) => 16 + Math.abs(x(a) - x(b)) / 8));
    const size = [layout.width + 16, bottom + PLATE + WORD + 24 + low];
    const svg = make("svg", { width: size[0], height: size[1], viewBox: `-8 -4 ${size.join(" ")}`, role: "tree", "aria-label": this.name, "font-family": FAMILY });
    const [edges, nodes, words, arcs] = ["edges", "nodes", "words", "links"].map((name) => make("g", { class: name }, svg));
    this.nodes = shape.sizes.map((size, i) => {
      const above = shape.parents[i];
      if (above >= 0) make("path", { d: edgePath(x(i), y(i), x(above), y(above) + PLATE, y(above) + PLATE + (LEVEL - PLATE) / 2) }, edges);
      const node = make("g", { class: size === 1 ? "node tag" : "node", transform: `translate(${x(i)},${y(i)})`, role: "treeitem", tabindex: "-1",
        "aria-level": layout.depths[i] + 1, "data-node": i }, nodes);
      make("rect", { x: -plates[i] / 2, width: plates[i], height: PLATE, rx: 5, fill: size > 1 ? shape.fills[i] : "none" }, node);
      make("text", { y: 16 }, node).textContent = label(i);
      make("circle", { class: "lock", cx: plates[i] / 2, cy: 1, r: 4 }, node);
      make("path", { class: "slip", d: `M${-plates[i] / 2},-5l5,9h-10z` }, node);
      if (size === 1) {
        const word = make("text", { x: x(i), y: bottom + PLATE + WORD + 2, "data-node": i, ...(rtl ? { direction: "rtl" } : {}) }, words);
        word.textContent = shape.words[shape.starts[i]];
        if (shape.labels[i] === "-NONE-") word.classList.add("empty");
      }
      return node;
    });
    this.words = [...words.children];
    const foot = bottom + PLATE + WORD + 8;
    for (const [a, b] of links) {
      const depth = foot + 16 + Math.abs(x(a) - x(b)) / 8;
      make("path", { d: `M${x(a)},${foot}C${x(a)},${depth} ${x(b)},${depth} ${x(b)},${foot}` }, arcs);
    }
    this.scroll.replaceChildren(svg);
    this.describe({});
    return svg;
  }

  // Say of each node what it is, for screen readers, with notes such as "confirmed".
  describe(notes) {
    this.nodes.forEach((node, i) => {
      const more = (notes[i] || []).map((note) => `, ${note}`).join("");
      node.setAttribute("aria-label", `${this.shape.labels[i] || "root"}: ${this.shape.text(i)}${more}`);
    });
  }

  mark(name, nodes) {
    const wanted = new Set(nodes);
    this.nodes.forEach((node, i) => node.classList.toggle(name, wanted.has(i)));
  }

  shade(probabilities) {
    this.nodes.forEach((node, i) => {
      const p = probabilities[i];
      node.classList.toggle("weak", p !== undefined && p < WEAK);
      node.querySelector("rect").setAttribute("fill-opacity", p === undefined ? 1 : 0.3 + 0.7 * p);
    });
  }

  highlight(from, to) {
    this.words.forEach((word, k) => word.classList.toggle("on", from <= k && k < to));
  }

  reveal(i) {
    const node = this.nodes[i].getBoundingClientRect(), room = this.scroll.getBoundingClientRect();
    if (node.left < room.left || node.right > room.right) this.scroll.scrollLeft += node.left - room.left - room.width / 2;
  }
}

const ROW = 46, PAGE = 60;

// A list of any length: only the rows in sight are elements, and only those near them are asked for.
export class List {
  constructor(fetchRows, onChosen) {
    Object.assign(this, { fetchRows, onChosen, n: 0, place: null, chosen: -1, known: new Map(), asked: new Set() });
    this.box = document.getElementById("list");
    this.rows = document.getElementById("rows");
    this.box.addEventListener("scroll", () => this.draw());
    new ResizeObserver(() => this.draw()).observe(this.box);
    this.box.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) { event.preventDefault(); event.stopPropagation(); this.step(step); }
    });
  }

  // Ask anew, and show where a sentence is.
  async load(at = this.chosen) {
    const answer = await this.fetchRows({ first: 0, number: PAGE, anew: 1, at });
    this.known.clear();
    this.asked = new Set([0]);
    Object.assign(this, { n: answer.n, place: answer.place });
    answer.rows.forEach((row, k) => this.known.set(k, row));
    this.rows.style.height = `${this.n * ROW}px`;
    if (this.place !== null) this.reveal();
    this.draw();
    return answer;
  }

  async need(page) {
    if (this.asked.has(page)) return;
    this.asked.add(page);
    const answer = await this.fetchRows({ first: page * PAGE, number: PAGE });
    answer.rows.forEach((row, k) => this.known.set(page * PAGE + k, row));
  }

  async draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - 3), last = Math.min(this.n, first + Math.ceil(this.box.clientHeight / ROW) + 7);
    this.paint(first, last);
    const pages = [...new Set([Math.floor(first / PAGE), Math.floor(Math.max(first, last - 1) / PAGE)])].filter((page) => !this.asked.has(page));
    if (pages.length) { await Promise.all(pages.map((page) => this.need(page))); this.draw(); }
  }

  paint(first, last) {
    const rows = [];
    for (let k = first; k < last; k++) {
      const row = this.known.get(k);
      const sure = row && row.confidence !== null ? ` · ${Math.round(100 * row.confidence)} %` : "";
      const item = element("div", { class: `row ${row ? row.state : ""}`, role: "option", "aria-selected": String(Boolean(row) && row.i === this.chosen),
        "aria-posinset": k + 1, "aria-setsize": this.n },
        element("div", { dir: row && row.rtl ? "rtl" : "ltr" }, row ? row.text : "…"),
        element("small", {}, element("span", { class: "dot" }), row ? `${row.i + 1} · ${row.state} · ${row.words} words${sure}${row.comment ? " · note" : ""}` : ""));
      item.style.top = `${k * ROW}px`;
      if (row) item.addEventListener("click", () => { this.place = k; this.onChosen(row.i); });
      rows.push(item);
    }
    this.rows.replaceChildren(...rows);
  }

  choose(i, state) {
    this.chosen = i;
    for (const row of this.known.values()) if (row.i === i && state) row.state = state;
    this.draw();
  }

  reveal() {
    const top = this.place * ROW;
    if (top < this.box.scrollTop || top + ROW > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top - this.box.clientHeight / 3;
  }

  async step(by) {
    const place = this.place === null ? 0 : this.place + by;
    if (place < 0 || place >= this.n) return false;
    await this.need(Math.floor(place / PAGE));
    this.place = place;
    this.reveal();
    this.onChosen(this.known.get(place).i);
    return true;
  }
}

// A line through values, with the last one in words.
export function chart(values, caption, digits) {
  const width = 140, height = 46, svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${caption}: ${values.map((v) => v.toFixed(digits)).join(", ")}` });
  const low = Math.min(...values), room = Math.max(...values) - low || 1;
  const places = values.map((value, k) => [6 + (k * (width - 50)) / Math.max(values.length - 1, 1), height - 8 - ((value - low) * (height - 18)) / room]);
  make("polyline", { points: places.map((place) => place.join(",")).join(" ") }, svg);
  const [x, y] = places.at(-1);
  make("circle", { cx: x, cy: y, r: 3 }, svg);
  make("text", { x: x + 6, y: y + 4 }, svg).textContent = values.at(-1).toFixed(digits);
  return element("figure", {}, svg, element("figcaption", {}, caption));
}
