// The workbench: what the keys and the mouse do, and what the server answers. Each action is on disk before it is shown.
import { List, Picture, Shape, chart, element } from "./panes.js";

const byId = (name) => document.getElementById(name);
const picture = new Picture(byId("picture"), "Tree"), beside = new Picture(byId("beside"), "Tree of the second annotator");
let info = {}, sentence = null, shape = null, chosen = 0, anchor = null, moving = null, linking = null, others = [], probabilities = {}, isBusy = false;

async function ask(path, body) {
  const settings = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } };
  let answer;
  try { answer = await fetch(`api/${path}`, settings); } catch { throw new Error("the server does not answer: is it still running?"); }
  const found = await answer.json().catch(() => ({ error: `the server refused this (${answer.status})` }));
  if (!answer.ok) throw Object.assign(new Error(found.error), { status: answer.status });
  return found;
}

function say(text, isBad = false) {
  byId("message").textContent = text;
  byId("message").classList.toggle("bad", isBad);
}

// Run something that may fail, and say why it did.
async function tried(work) {
  try { return await work(); } catch (error) { say(error.message, true); return null; }
}

const list = new List((query) => ask(`list?${new URLSearchParams({ ...query, order: byId("order").value, state: byId("state").value, pattern: byId("pattern").value })}`), (i) => open(i));

// Showing a sentence

async function open(i) {
  const found = await tried(() => ask(`sentence/${i}`));
  if (!found) return;
  location.replace(`#${i + 1}`);
  [chosen, anchor] = [0, null];
  say("");
  show(found);
  select(shape.sizes.length > 1 ? 1 : 0);
}

function show(found, keep) {
  const spot = keep && shape ? { label: shape.labels[chosen], start: shape.starts[chosen], end: shape.end(chosen) } : null;
  const hadFocus = byId("picture").contains(document.activeElement);
  sentence = found;
  shape = new Shape(found.tree);
  probabilities = {};
  draw();
  byId("number").textContent = `Sentence ${found.i + 1} of ${info.n}`;
  byId("badge").textContent = found.accepted ? `${found.state}, accepted` : found.state;
  byId("agreement").textContent = found.second ? `agreement F ${(100 * found.second.f).toFixed(1)}` : "";
  byId("hints").replaceChildren(...found.hints.map((hint) => {
    const button = element("button", { type: "button" }, hint.what);
    button.addEventListener("click", () => select(hint.node, true));
    return element("li", {}, button);
  }));
  if (byId("comment") !== document.activeElement) byId("comment").value = found.comment;
  byId("second").hidden = !found.second;
  if (found.second) {
    beside.show(new Shape(found.second.tree), { rtl: found.rtl, signs: found.second.theirs });
    beside.mark("different", Object.keys(found.second.theirs).map(Number));
  }
  closeOthers();
  list.choose(found.i, found.state);
  if (spot) select(nearest(spot), hadFocus);
  shadeLater(found);
}

function draw() {
  const ours = (sentence.second || {}).ours || {};
  picture.show(shape, { rtl: sentence.rtl, links: sentence.links, signs: ours });
  picture.mark("confirmed", [...sentence.confirmed, ...sentence.confirmedTags]);
  picture.mark("hinted", sentence.hints.map((hint) => hint.node));
  picture.mark("different", Object.keys(ours).map(Number));
  shade();
}

function shade() {
  picture.shade(probabilities);
  const all = {};
  const add = (node, text) => (all[node] = [...(all[node] || []), text]);
  for (const node of sentence.confirmed) add(node, "confirmed");
  for (const hint of sentence.hints) add(hint.node, hint.what);
  for (const [node, p] of Object.entries(probabilities)) add(node, `${Math.round(100 * p)} % sure`);
  picture.describe(all);
}

async function shadeLater(found) {
  const answer = await ask(`sentence/${found.i}/confidences`).catch(() => null);
  if (!answer || answer.version !== sentence.version || sentence.i !== found.i) return;
  probabilities = answer.nodes;
  shade();
}

// The node that is most like one of the last tree: where the person was.
function nearest({ label, start, end }) {
  const cost = (i) => 2 * (Math.abs(shape.starts[i] - start) + Math.abs(shape.end(i) - end)) + (shape.labels[i] !== label);
  return shape.sizes.reduce((best, _, i) => (cost(i) < cost(best) ? i : best), 0);
}

function select(i, focus = true, extend = false) {
  if (i < 0 || i >= shape.sizes.length) return;
  anchor = extend ? (anchor === null ? chosen : anchor) : null;
  chosen = i;
  picture.nodes.forEach((node, k) => node.setAttribute("tabindex", k === i ? "0" : "-1"));
  picture.nodes.forEach((node, k) => node.setAttribute("aria-selected", String(k === i)));
  const [a, b] = range();
  picture.mark("chosen", [i]);
  picture.mark("range", anchor === null ? [] : shape.sizes.flatMap((_, k) => (k && a <= shape.starts[k] && shape.end(k) <= b ? [k] : [])));
  picture.mark("source", moving === null && linking === null ? [] : [moving ?? linking]);
  picture.highlight(a, b - a < shape.words.length ? b : a);
  const path = [];
  for (let k = i; k >= 0; k = shape.parents[k]) path.unshift(shape.labels[k] || "·");
  byId("path").textContent = `${path.join(" › ")} · ${shape.text(i)}`;
  picture.reveal(i);
  if (focus) picture.nodes[i].focus({ preventScroll: true });
}

function range() {
  const ends = [chosen, anchor ?? chosen];
  return [Math.min(...ends.map((k) => shape.starts[k])), Math.max(...ends.map((k) => shape.end(k)))];
}

// Actions

async function act(action, said = "") {
  if (isBusy || !sentence) return false;
  isBusy = true;
  const { i, version } = sentence;
  try {
    show(await ask(`sentence/${i}`, { version, action }), true);
    say(said);
    return true;
  } catch (error) {
    if (error.status === 409) show(await ask(`sentence/${i}`), true);
    say(error.message, true);
    return false;
  } finally { isBusy = false; }
}

// Ask for a text, with completion; null if the person thinks better of it.
function question(text, choices, value = "") {
  const dialog = byId("ask"), input = byId("answer"), box = byId("choices");
  let shown = [], at = -1;
  byId("question").textContent = text;
  input.value = value;
  const draw = () => {
    const typed = input.value.toLowerCase();
    shown = input.value === value && value ? choices : choices.filter((one) => one.toLowerCase().startsWith(typed));
    shown = shown.slice(0, 60);
    box.replaceChildren(...shown.map((one, k) => {
      const item = element("li", { role: "option", "aria-selected": String(k === at), id: `choice-${k}` }, one);
      item.addEventListener("click", () => { input.value = one; dialog.close("ok"); });
      return item;
    }));
    if (at >= 0) { box.children[at].scrollIntoView({ block: "nearest" }); input.setAttribute("aria-activedescendant", `choice-${at}`); }
    else input.removeAttribute("aria-activedescendant");
  };
  input.oninput = () => { at = -1; draw(); };
  input.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && shown.length) { event.preventDefault(); at = (at + step + shown.length) % shown.length; draw(); }
    else if (event.key === "Tab" && shown.length && !event.shiftKey) { event.preventDefault(); input.value = shown[Math.max(at, 0)]; at = -1; draw(); }
    else if (event.key === "Enter") { event.preventDefault(); if (at >= 0) input.value = shown[at]; dialog.close("ok"); }
  };
  byId("cancel").onclick = () => dialog.close("");
  dialog.returnValue = "";
  draw();
  dialog.showModal();
  input.select();
  return new Promise((resolve) => dialog.addEventListener("close", () => {
    picture.nodes[chosen].focus({ preventScroll: true });
    resolve(dialog.returnValue === "ok" && input.value.trim() ? input.value.trim() : null);
  }, { once: true }));
}

async function relabel() {
  const isTag = shape.sizes[chosen] === 1, label = await question(isTag ? "Part of speech" : "Label of the phrase", isTag ? info.tags : info.labels, shape.labels[chosen]);
  if (label !== null && label !== shape.labels[chosen]) await act({ do: "relabel", node: chosen, label }, `now ${label}`);
}

async function wrap(force = false) {
  const nodes = { first: chosen, last: anchor ?? chosen, force }, label = await question("Label of the new phrase", info.labels);
  if (label !== null) await act({ do: "wrap", ...nodes, label }, `${label} is new`);
}

async function split() {
  const word = shape.words[shape.starts[chosen]], text = await question("Put a space where the word ends", [], word);
  const at = text === null ? -1 : text.indexOf(" ");
  if (text === null) return;
  if (text.replace(" ", "") !== word || at < 1) say("only a space may be added: words stay as they are", true);
  else await act({ do: "split", node: chosen, at: [...text.slice(0, at)].length });
}

async function trace() {
  const text = await question("Label and type of the trace before what is chosen, such as NP-SBJ *T*", ["NP-SBJ *", "NP *", "NP *T*", "WHNP 0", "ADVP *T*", "0"]);
  if (text === null || chosen === 0) return;
  const [type, label] = text.split(/\s+/).reverse(), parent = shape.parents[chosen];
  await act({ do: "trace", node: parent, at: shape.children(parent).indexOf(chosen), label: label || "", type }, "the trace is in the tree");
}

// A move and an index need a second node: it is chosen next, and Enter or the same key ends the command.
function pick(kind) {
  if (moving !== null || linking !== null) return drop();
  if (kind === "link" && shape.labels[chosen] !== "-NONE-") return say("choose a trace, then its antecedent", true);
  if (kind === "link") linking = chosen; else moving = chosen;
  select(chosen);
  say(kind === "link" ? "choose the antecedent, then press Enter; Escape cancels" : "choose the phrase to move to, then press Enter; Escape cancels");
}

async function drop() {
  const [node, to, isMove] = [moving ?? linking, chosen, moving !== null];
  [moving, linking] = [null, null];
  await act(isMove ? { do: "move", node, to } : { do: "coindex", node, to: to === node ? null : to }, isMove ? "moved" : "linked");
  select(chosen);
}

function cancel() {
  [moving, linking, anchor] = [null, null, null];
  closeOthers();
  say("");
  select(chosen);
}

async function showOthers(how) {
  const at = sentence.version, found = await tried(() => ask(`sentence/${sentence.i}/alternatives?node=${chosen}&how=${how}`));
  if (!found || at !== sentence.version) return;
  others = found.trees;
  byId("others").hidden = false;
  byId("others").querySelector("ol").replaceChildren(...others.map((tree, k) => {
    const other = new Shape(tree), there = phrases(other), here = phrases(shape);
    const more = [...there.keys()].filter((one) => !here.has(one)).map((one) => `+ ${there.get(one)}`);
    const less = [...here.keys()].filter((one) => !there.has(one)).map((one) => `− ${here.get(one)}`);
    const what = [...more, ...less].join("   ") || "other parts of speech";
    const button = element("button", { type: "button" }, element("b", {}, String(k + 1)), what);
    button.addEventListener("mouseenter", () => preview(other, tree.new));
    button.addEventListener("focus", () => preview(other, tree.new));
    button.addEventListener("mouseleave", () => restore());
    button.addEventListener("click", () => choose(k));
    return element("li", {}, button);
  }));
  say(others.length ? `${others.length} alternatives` : "the parser knows no other tree that has what is confirmed");
}

function phrases(one) {
  return new Map(one.sizes.flatMap((size, i) => (size > 1 ? [[`${one.labels[i]} ${one.starts[i]} ${one.end(i)}`, `${one.labels[i]} “${one.text(i, 8)}”`]] : [])));
}

function preview(other, marks) {
  picture.show(other, { rtl: sentence.rtl });
  picture.mark("different", marks);
}

function restore() {
  draw();
  select(chosen, false);
}

async function choose(k) {
  if (others[k]) { const tree = others[k].brackets; await act({ do: "choose", tree }, `alternative ${k + 1}`); }
}

function closeOthers() {
  others = [];
  byId("others").hidden = true;
}

async function accept() {
  if (await act({ do: "accept" })) { if (!(await list.step(1))) say("accepted: this was the last sentence of the list"); }
}

async function save() {
  const found = await tried(() => ask("save", {}));
  if (found) say(`${found.saved} trees are in ${info.target}`);
}

const COMMANDS = [ // keys, name, what it does, whether it has a button
  ["l Enter", "Relabel", "change a label or a tag", () => (moving ?? linking) !== null ? drop() : relabel(), true],
  ["w", "Wrap", "put a phrase over what is chosen", () => wrap(), true],
  ["W", "", "the same, and dissolve what crosses it", () => wrap(true), false],
  ["d Delete", "Dissolve", "dissolve a phrase, delete a trace", () => act({ do: shape.isTrace(chosen) ? "delete" : "dissolve", node: chosen }), true],
  ["m", "Move", "move a word or phrase: choose the new parent, then Enter", () => pick("move"), true],
  ["c", "Confirm", "confirm a phrase and all in it", () => act({ do: "confirm", node: chosen }, "confirmed: it stays"), true],
  null,
  ["s", "Split", "split a word", split, true],
  ["j", "Join", "join a word with the next", () => act({ do: "join", node: chosen }), true],
  ["e", "Trace", "put a trace before what is chosen", trace, true],
  ["i", "Link", "link a trace: choose the antecedent, then Enter", () => pick("link"), true],
  null,
  ["b", "Others", "other trees; all before what is chosen stays", () => showOthers("behind"), true],
  ["x", "Without", "other trees without the chosen phrase; all before it stays", () => showOthers("without"), true],
  ["B", "", "others of this phrase alone", () => showOthers("inside"), false],
  ["r", "Parse", "parse again with all that is confirmed", () => act({ do: "parse" }), true],
  ["z Ctrl+z", "Undo", "undo", () => act({ do: "undo" }), true],
  ["y Ctrl+y Ctrl+Z", "Redo", "do again", () => act({ do: "redo" }), true],
  null,
  ["q", "Doubt", "mark as doubtful, or no longer", () => act({ do: "doubt" }), true],
  ["a", "Accept", "accept the rest, and go on", accept, true],
  ["Ctrl+s", "Save", "write the file", save, true],
  ["?", "Help", "show the keys", () => byId("help").showModal(), true],
  ["n PageDown", "", "next sentence", () => list.step(1), false],
  ["p PageUp", "", "sentence before", () => list.step(-1), false],
  ["k", "", "write a comment", () => byId("comment").focus(), false],
  ["/", "", "filter by a pattern", () => byId("pattern").focus(), false],
  ["Escape", "", "cancel", cancel, false],
];
const KEYS = new Map(COMMANDS.filter(Boolean).flatMap(([keys, , , run]) => keys.split(" ").map((key) => [key, run])));

function walk(event) {
  const up = shape.parents[chosen], siblings = up < 0 ? [chosen] : shape.children(up), place = siblings.indexOf(chosen);
  const side = { ArrowRight: 1, ArrowLeft: -1 }[event.key] * (sentence.rtl ? -1 : 1);
  if (event.key === "ArrowUp") select(up < 0 ? chosen : up);
  else if (event.key === "ArrowDown") select(shape.sizes[chosen] > 1 ? chosen + 1 : chosen);
  else if (siblings[place + side] !== undefined) select(siblings[place + side], true, event.shiftKey);
  else { // the next word, wherever it is
    const leaf = shape.leaves[side > 0 ? shape.end(chosen) : shape.starts[chosen] - 1];
    if (leaf !== undefined) select(leaf, true, event.shiftKey);
  }
}

document.addEventListener("keydown", (event) => {
  const tag = event.target.tagName;
  if (event.key === "Escape" && (tag === "INPUT" || tag === "TEXTAREA")) return event.target.blur();
  const isTyping = ["INPUT", "TEXTAREA", "SELECT"].includes(tag) || document.querySelector("dialog[open]");
  const key = (event.ctrlKey || event.metaKey ? "Ctrl+" : "") + event.key;
  if (!sentence || (isTyping && key !== "Ctrl+s") || event.altKey) return;
  if (tag === "BUTTON" && (event.key === "Enter" || event.key === " ")) return;
  if (/^[1-9]$/.test(key) && others.length) choose(Number(key) - 1);
  else if (["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"].includes(key)) walk(event);
  else if (key === "Home") select(0);
  else if (KEYS.has(key)) KEYS.get(key)();
  else return;
  event.preventDefault();
});

// The mouse: a click chooses, with Shift up to there; a double click relabels; what is dragged to a phrase moves there.
function listen(figure) {
  let from = null, start = null, isDragged = false;
  const nodeAt = (event) => { const hit = document.elementFromPoint(event.clientX, event.clientY)?.closest("#picture [data-node]"); return hit ? Number(hit.dataset.node) : null; };
  figure.addEventListener("pointerdown", (event) => { [from, start, isDragged] = [nodeAt(event), event, false]; });
  figure.addEventListener("pointermove", (event) => {
    if (from === null || !(event.buttons & 1)) return;
    isDragged ||= Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) > 6;
    if (!isDragged) return;
    const to = nodeAt(event);
    picture.mark("source", [from]);
    picture.mark("target", to === null || to === from ? [] : [to]);
  });
  figure.addEventListener("pointerup", (event) => {
    const to = nodeAt(event), node = from;
    from = null;
    picture.mark("target", []);
    picture.mark("source", []);
    if (to === null) return;
    if (isDragged && node !== null && to !== node) { select(node); act({ do: "move", node, to }, "moved"); return; }
    select(to, true, event.shiftKey);
    if (moving !== null || linking !== null) drop();
  });
  figure.addEventListener("dblclick", (event) => { if (nodeAt(event) !== null) relabel(); });
}

async function showProgress() {
  const found = await ask("progress").catch(() => null);
  if (!found) return;
  byId("learn").hidden = found.on === undefined;
  byId("learning").checked = Boolean(found.on);
  const running = found.running ? "the parser is learning …" : `proposals by ${found.parser.split("/").slice(-3).join("/")}`;
  const agreement = found.compared ? ` · F ${(100 * found.f).toFixed(1)} with the second annotator in ${found.compared}` : "";
  byId("learned").textContent = `${found.accepted} accepted · ${found.error || running}${agreement}`;
  const scores = (found.runs || []).flatMap((run) => (run.f.length ? [Math.max(...run.f)] : []));
  byId("charts").replaceChildren(...(scores.length ? [chart(scores, "F on trees held out", 1)] : []), ...(found.actions.length ? [chart(found.actions, "actions per word", 2)] : []));
}

async function begin() {
  info = await ask("info");
  document.title = `${info.file} · Workbench`;
  byId("file").textContent = info.file;
  const hidden = info.canRetokenize ? [] : ["Split", "Join"];
  byId("tools").replaceChildren(...COMMANDS.flatMap((command) => {
    if (!command) return [element("hr")];
    const [keys, name, what, run, hasButton] = command;
    if (!hasButton || hidden.includes(name)) return [];
    const button = element("button", { type: "button", title: what, ...(name === "Accept" ? { class: "main" } : {}) }, name, element("kbd", { "aria-hidden": "true" }, keys.split(" ")[0]));
    button.addEventListener("click", () => { if (sentence) run(); });
    return [button];
  }));
  byId("keys").replaceChildren(...[["← → ↑ ↓", "walk in the tree"], ["Shift+← →", "choose several"], ["1 … 9", "choose an alternative"]]
    .concat(COMMANDS.filter(Boolean).map(([keys, , what]) => [keys.replaceAll(" ", ", "), what]))
    .map(([keys, what]) => element("div", {}, element("dt", {}, keys), element("dd", {}, what))));
  const refresh = async () => { const found = await tried(() => list.load()); if (found) { byId("found").textContent = `${found.n} sentences`; say(""); } };
  byId("filter").addEventListener("submit", (event) => { event.preventDefault(); refresh(); });
  for (const name of ["state", "order", "pattern"]) byId(name).addEventListener("change", refresh);
  byId("comment").addEventListener("change", (event) => act({ do: "comment", text: event.target.value }));
  byId("learning").addEventListener("change", (event) => tried(() => ask("learning", { on: event.target.checked })));
  listen(byId("picture"));
  window.addEventListener("focus", async () => { // another window may have changed it
    const found = sentence && !isBusy ? await ask(`sentence/${sentence.i}`).catch(() => null) : null;
    if (found && sentence.i === found.i && found.version !== sentence.version) show(found, true);
  });
  const wanted = Number(location.hash.slice(1)) - 1, first = wanted >= 0 && wanted < info.n ? wanted : 0;
  list.chosen = first;
  await refresh();
  if (list.place === null) list.place = 0;
  await open(first);
  setInterval(() => { if (!document.hidden) showProgress(); }, 3000);
  setInterval(async () => { if (!document.hidden) info = await ask("info").catch(() => info); }, 30000);
  showProgress();
}

tried(begin);
