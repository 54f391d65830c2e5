// The script of a page of trees: folding, searching, hovering. It creates elements, not markup, so text stays text.
"use strict";

const SPOKEN = 40; // words of a phrase for screen readers
const LINES = [20, 12, 8], MAX_LINES = 4; // characters per line under a triangle, fewer if space is short; lines

// Words on a few lines; if they do not fit, the middle is left out.
function textLines(words, length) {
  const fill = (list) => {
    const lines = [];
    let room = 0;
    for (const word of list) {
      if (word.length > room) { lines.push([]); room = length; }
      lines.at(-1).push(word);
      room -= word.length + 1;
    }
    return lines;
  };
  const lines = fill(words).map((line) => line.join(" "));
  if (lines.length <= MAX_LINES) return lines;
  const tail = fill(words.slice().reverse()).slice(0, MAX_LINES / 2).map((line) => line.reverse().join(" "));
  return [...lines.slice(0, MAX_LINES / 2 - 1), `${lines[MAX_LINES / 2 - 1]} …`, ...tail.reverse()];
}

// A tree in any style: its nodes and words, with the elements that show them.
class View {
  constructor(figure) {
    this.figure = figure;
    this.sizes = figure.dataset.sizes.split(" ").map(Number);
    this.labels = JSON.parse(figure.dataset.labels);
    this.starts = [];
    this.parents = [];
    let words = 0;
    const path = [];
    this.sizes.forEach((size, i) => {
      while (path.length && path.at(-1) + this.sizes[path.at(-1)] <= i) path.pop();
      this.parents.push(path.length ? path.at(-1) : -1);
      this.starts.push(words);
      if (size === 1) words++; else path.push(i);
    });
    this.starts.push(words);
    this.leaves = this.sizes.flatMap((size, i) => (size === 1 ? [i] : []));
    const written = [...figure.querySelectorAll(figure.classList.contains("spans") ? ".words text" : ".text span, .word")];
    this.words = written.map((element) => (element.querySelector("bdi") || element).textContent);
    this.wordElements = written.map((element) => [element]);
    this.nodeElements = this.sizes.map(() => []);
    this.path = figure.querySelector(".path");
    this.findElements();
    this.wordElements.forEach((elements, word) => this.listen(elements, this.leaves[word]));
    this.nodeElements.forEach((elements, node) => this.listen(elements, node));
  }

  findElements() {
    for (const element of this.figure.querySelectorAll("[data-node]"))
      this.nodeElements[element.dataset.node - this.figure.dataset.first].push(element);
  }

  end(i) { return this.starts[i + this.sizes[i]]; }
  text(i) { return this.words.slice(this.starts[i], this.end(i)).join(" "); }
  *pathTo(i) { for (let node = i; node >= 0; node = this.parents[node]) yield node; }

  listen(elements, node) {
    for (const element of elements) {
      element.addEventListener("mouseenter", () => this.point(node));
      element.addEventListener("mouseleave", () => this.point(-1));
    }
  }

  // Show a node's words, its path to the root and its label; -1: nothing.
  point(node) {
    for (const element of this.figure.querySelectorAll(".on")) element.classList.remove("on");
    this.path.textContent = "";
    if (node < 0) return;
    for (let word = this.starts[node]; word < this.end(node); word++)
      for (const element of this.wordElements[word]) element.classList.add("on");
    const path = [...this.pathTo(node)];
    for (const above of path) for (const element of this.elementsAbove(above)) element.classList.add("on");
    const words = this.end(node) - this.starts[node];
    const names = path.reverse().map((above) => this.labels[above]).join(" › ");
    this.path.textContent = `${names} · ${words} ${words === 1 ? "word" : "words"}: ${this.text(node)}`;
  }

  elementsAbove(node) { return this.nodeElements[node]; }
  fold() {}
  unfold() {}
  foldAll() {}
  fit() {}
  reveal() {}
}

// A tree drawn from the top down, whose phrases can be folded to triangles.
class TreeView extends View {
  findElements() {
    this.svg = this.figure.querySelector("svg");
    this.plates = [...this.svg.querySelectorAll(".labels > g")];
    this.edges = [null, ...this.svg.querySelectorAll(".edges > path")];
    this.svgWords = [...this.svg.querySelectorAll(".words > text")];
    this.svgWords.forEach((element, word) => this.wordElements[word].push(element));
    this.nodeElements = this.plates.map((plate) => [plate]);
    this.folded = new Set();
    this.lineLength = LINES[0];
    this.roofs = new Map();
    [this.word, this.label, this.plate, this.level, this.gap, this.roof] =
      this.figure.dataset.metrics.split(" ").map(Number);
    this.hasTags = this.figure.dataset.tags === "1";
    this.mirrored = this.figure.dataset.dir === "rtl";
    this.current = 0;
    this.plates.forEach((plate, node) => this.describe(plate, node));
    this.svg.setAttribute("role", "tree");
    this.plates[0].setAttribute("tabindex", "0");
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("click", (event) => {
      const node = this.plates.indexOf(event.target.closest(".labels > g"));
      if (node >= 0) { this.focus(node); this.toggle(node); }
    });
  }

  describe(plate, node) {
    const level = node ? +this.plates[this.parents[node]].getAttribute("aria-level") + 1 : 1;
    plate.setAttribute("role", "treeitem");
    plate.setAttribute("aria-level", level);
    const end = Math.min(this.end(node), this.starts[node] + SPOKEN);
    const text = this.words.slice(this.starts[node], end).join(" ") + (end < this.end(node) ? " …" : "");
    plate.setAttribute("aria-label", `${this.labels[node]}: ${text}`);
    if (this.sizes[node] > 1) plate.setAttribute("aria-expanded", "true");
    plate.addEventListener("focus", () => this.point(node));
  }

  elementsAbove(node) { return node ? [this.plates[node], this.edges[node]] : [this.plates[0]]; }

  focus(node) {
    this.plates[this.current].setAttribute("tabindex", "-1");
    this.current = node;
    this.plates[node].setAttribute("tabindex", "0");
    this.plates[node].focus();
  }

  key(event) {
    const siblings = this.current ? childrenOf(this.sizes, this.parents[this.current]) : [0];
    const place = siblings.indexOf(this.current), forward = this.mirrored ? -1 : 1;
    const isOpen = this.sizes[this.current] > 1 && !this.folded.has(this.current);
    const targets = {
      ArrowUp: this.parents[this.current],
      ArrowDown: isOpen ? this.current + 1 : -1,
      ArrowRight: siblings[place + forward],
      ArrowLeft: siblings[place - forward],
      Home: 0,
    };
    if (event.key === "Enter" || event.key === " ") this.toggle(this.current);
    else if (event.key in targets) { if (targets[event.key] >= 0) this.focus(targets[event.key]); }
    else return;
    event.preventDefault();
  }

  toggle(node) {
    if (this.sizes[node] === 1) return;
    if (!this.folded.delete(node)) this.folded.add(node);
    this.draw();
  }

  unfold() { this.folded.clear(); this.draw(); }

  foldAll() {
    this.lineLength = LINES[0];
    this.folded = new Set(childrenOf(this.sizes, this.mainPhrase()).filter((node) => this.sizes[node] > 1));
    this.draw();
  }

  // Return the first node from the root down that has several children.
  mainPhrase() {
    let node = 0;
    while (this.sizes[node] > 1 && childrenOf(this.sizes, node).length === 1) node++;
    return node;
  }

  // Fold phrases up to a number of words, the smallest that makes the tree fit into the window.
  fit() {
    const room = this.figure.querySelector(".scroll").clientWidth - 20;
    for (this.lineLength of LINES)
      for (let length = 1; length < this.words.length; length += Math.ceil(length / 30)) {
        this.foldShort(length);
        if (this.place().layout.width <= room) return this.draw();
      }
    this.draw();
  }

  foldShort(length) {
    this.folded.clear();
    for (let i = this.mainPhrase() + 1; i < this.sizes.length; i++) {
      const words = this.end(i) - this.starts[i];
      if (words > 1 && words <= length) { this.folded.add(i); i += this.sizes[i] - 1; }
    }
  }

  // Unfold the phrases that hide a node.
  reveal(node) {
    let changed = false;
    for (const above of this.pathTo(this.parents[node])) changed = this.folded.delete(above) || changed;
    if (changed) this.draw();
  }

  // Return the visible nodes, which no folded phrase hides, and their positions.
  place() {
    const shown = [], sizes = [], open = [];
    for (let i = 0; i < this.sizes.length; i += this.folded.has(i) ? this.sizes[i] : 1) {
      while (open.length && open.at(-1).end <= i) this.close(open.pop(), sizes, shown.length);
      if (this.sizes[i] > 1 && !this.folded.has(i)) open.push({ end: i + this.sizes[i], position: shown.length });
      shown.push(i);
      sizes.push(1);
    }
    while (open.length) this.close(open.pop(), sizes, shown.length);
    const family = this.svg.getAttribute("font-family");
    const lines = shown.map((i, k) => (sizes[k] > 1 ? [] : this.folded.has(i)
      ? textLines(this.words.slice(this.starts[i], this.end(i)), this.lineLength) : [this.words[this.starts[i]]]));
    const textWidths = lines.map((list) => Math.max(0, ...list.map((line) => textWidth(line, this.word, family))));
    const widths = shown.map((i, k) => Math.max(this.plateWidth(i, family), textWidths[k]));
    return { shown, sizes, lines, textWidths, layout: layOut(sizes, widths, this.gap) };
  }

  close(phrase, sizes, position) { sizes[phrase.position] = position - phrase.position; }

  plateWidth(i, family) {
    const rect = this.plates[i].querySelector("rect");
    return rect ? +rect.getAttribute("width") : textWidth(this.labels[i], this.label, family);
  }

  draw() {
    const { shown, sizes, lines, textWidths, layout } = this.place();
    const deepest = Math.max(-1, ...layout.depths.filter((_, k) => sizes[k] > 1));
    const hasRoofs = shown.some((i) => this.folded.has(i));
    const bottom = (deepest + 1) * this.level;
    const textTop = bottom + (this.hasTags || hasRoofs ? this.plate : 0) + (hasRoofs ? this.roof : 0);
    const lineHeight = Math.floor((this.word * 5) / 4);
    const x = (k) => Math.round(this.mirrored ? layout.width - layout.centres[k] : layout.centres[k]);
    const top = (k) => (sizes[k] === 1 ? bottom : layout.depths[k] * this.level);
    this.hideAll();
    shown.forEach((i, k) => {
      const isLeaf = sizes[k] === 1;
      this.plates[i].style.display = "";
      this.plates[i].setAttribute("transform", `translate(${x(k)},${top(k)})`);
      if (this.sizes[i] > 1) this.plates[i].setAttribute("aria-expanded", String(!isLeaf));
      const above = layout.parents[k];
      if (above >= 0) this.drawEdge(i, x(k), isLeaf && !this.hasTags && !this.folded.has(i) ? textTop : top(k),
        x(above), top(above) + this.plate);
      if (this.folded.has(i)) this.drawRoof(i, x(k), bottom + this.plate, textTop, textWidths[k], lines[k], lineHeight);
      else if (isLeaf) this.drawWord(this.starts[i], x(k), textTop + this.word);
    });
    this.resize(layout.width + 16, textTop + Math.max(...lines.map((list) => list.length)) * lineHeight + 20);
  }

  hideAll() {
    for (const element of [...this.plates, ...this.edges.slice(1), ...this.svgWords]) element.style.display = "none";
    for (const roof of this.roofs.values()) roof.remove();
    this.roofs.clear();
    const active = this.visibleAncestor(this.current);
    if (active !== this.current) {
      this.plates[this.current].setAttribute("tabindex", "-1");
      this.plates[active].setAttribute("tabindex", "0");
      this.current = active;
    }
  }

  visibleAncestor(node) {
    return [...this.pathTo(node)].reduce((found, above) => (this.folded.has(above) ? above : found), node);
  }

  drawEdge(i, x, y, fromX, fromY) {
    const middle = fromY + Math.floor((this.level - this.plate) / 2);
    this.edges[i].setAttribute("d", edgePath(x, y, fromX, fromY, middle));
    this.edges[i].style.display = "";
  }

  drawWord(word, x, y) {
    this.svgWords[word].setAttribute("x", x);
    this.svgWords[word].setAttribute("y", y);
    this.svgWords[word].style.display = "";
  }

  drawRoof(i, x, top, foot, width, lines, lineHeight) {
    const roof = make("g", { class: "roof" }, this.svg.querySelector(".words"));
    const path = `M${x},${top}L${x - width / 2},${foot}H${x + width / 2}Z`;
    make("path", { d: path, fill: "none", stroke: "#8b949e", "stroke-width": 1.25 }, roof);
    lines.forEach((line, k) => {
      make("text", { x, y: foot + k * lineHeight + this.word }, roof).textContent = line;
    });
    this.listen([roof], i);
    this.roofs.set(i, roof);
  }

  resize(width, height) {
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", height);
    this.svg.style.height = `${height}px`;
    this.svg.setAttribute("viewBox", `-8 -8 ${width} ${height}`);
  }
}

// Search: a label in the trees, such as "NP", finds phrases; any other text finds words, also several in a row.
class Search {
  constructor(views) {
    this.views = views;
    this.labels = new Set(views.flatMap((view) => view.labels));
    this.input = document.querySelector("input[type=search]");
    this.output = document.querySelector("output");
    this.only = document.querySelector("input[type=checkbox]");
    this.input.addEventListener("input", () => this.run());
    this.only.addEventListener("change", () => this.run());
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") { event.preventDefault(); this.step(event.shiftKey ? -1 : 1); }
    });
  }

  run() {
    for (const element of document.querySelectorAll(".hit")) element.classList.remove("hit");
    const query = this.input.value.trim();
    this.hits = [];
    for (const view of this.views) {
      const found = query ? this.find(view, query) : [];
      view.hasHits = found.length > 0;
      this.hits.push(...found);
    }
    for (const row of document.querySelectorAll(".row")) {
      const views = this.views.filter((view) => view.figure.parentElement === row);
      row.hidden = this.only.checked && query !== "" && !views.some((view) => view.hasHits);
    }
    this.current = -1;
    this.mark();
  }

  find(view, query) {
    if (this.labels.has(query))
      return view.labels.flatMap((label, node) => (label === query ? [this.hit(view, node, view.nodeElements[node])] : []));
    const text = view.words.join(" ").toLowerCase(), wanted = query.toLowerCase(), hits = [];
    const ends = [];
    view.words.reduce((offset, word) => (ends.push(offset + word.length), offset + word.length + 1), 0);
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
      const first = ends.findIndex((end) => end > at);
      const last = ends.findIndex((end) => end >= at + wanted.length);
      const elements = view.wordElements.slice(first, (last < 0 ? first : last) + 1).flat();
      hits.push(this.hit(view, view.leaves[first], elements));
    }
    return hits;
  }

  hit(view, node, elements) {
    for (const element of elements) element.classList.add("hit");
    return { view, node };
  }

  step(by) {
    if (!this.hits || !this.hits.length) return;
    this.current = (Math.max(this.current, by < 0 ? 0 : -1) + by + this.hits.length) % this.hits.length;
    const { view, node } = this.hits[this.current];
    view.reveal(node);
    view.point(node);
    view.figure.scrollIntoView({ block: "nearest" });
    const element = view.nodeElements[node].at(-1);
    if (element) element.scrollIntoView({ block: "nearest", inline: "center" });
    this.mark();
  }

  mark() {
    for (const view of this.views) view.figure.classList.remove("current");
    const n = this.hits.length;
    if (this.current >= 0) this.hits[this.current].view.figure.classList.add("current");
    const place = this.current >= 0 ? `${this.current + 1} of ` : "";
    this.output.textContent = this.input.value.trim() ? `${place}${n} ${n === 1 ? "hit" : "hits"}` : "";
  }
}

function start() {
  const views = [...document.querySelectorAll("figure")].map((figure) =>
    figure.classList.contains("tree") ? new TreeView(figure) : new View(figure));
  new Search(views);
  for (const button of document.querySelectorAll("header button"))
    button.addEventListener("click", () => { for (const view of views) view[button.dataset.action](); });
  for (const view of views) {
    const folded = view.figure.dataset.folded;
    if (folded) { folded.split(" ").forEach((node) => view.folded.add(+node)); view.draw(); }
    else if (view.svg && view.svg.width.baseVal.value > view.figure.querySelector(".scroll").clientWidth) view.fit();
  }
}

start();
