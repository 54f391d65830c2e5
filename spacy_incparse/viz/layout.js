// The layout of trees, shared by pages of trees and the workbench: widths of texts, places of nodes, SVG elements.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

function make(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (parent) parent.append(element);
  return element;
}

const pen = document.createElement("canvas").getContext("2d");

const knownWidths = new Map();

function textWidth(text, size, family) {
  const font = `${size}px ${family}`, key = `${font}\n${text}`;
  if (!knownWidths.has(key)) {
    if (pen.font !== font) pen.font = font;
    knownWidths.set(key, Math.ceil(pen.measureText(text).width));
  }
  return knownWidths.get(key);
}

function childrenOf(sizes, i) {
  const children = [];
  for (let child = i + 1; child < i + sizes[i]; child += sizes[child]) children.push(child);
  return children;
}

// As in layout.py: every subtree has its own block, and a node is centered between its first and last child.
function layOut(sizes, widths, gap) {
  const n = sizes.length, blocks = Array(n), inner = Array(n).fill(0), lefts = Array(n).fill(0);
  const centres = Array(n), depths = Array(n).fill(0), parents = Array(n).fill(-1), children = [];
  for (let i = n - 1; i >= 0; i--) {
    children[i] = childrenOf(sizes, i);
    for (const child of children[i]) inner[i] += blocks[child];
    blocks[i] = Math.max(widths[i] + gap, inner[i]);
  }
  for (let i = 0; i < n; i++) {
    let left = lefts[i] + (blocks[i] - inner[i]) / 2;
    for (const child of children[i]) {
      [lefts[child], depths[child], parents[child]] = [left, depths[i] + 1, i];
      left += blocks[child];
    }
  }
  for (let i = n - 1; i >= 0; i--) {
    const lowest = lefts[i] + widths[i] / 2, highest = lefts[i] + blocks[i] - gap - widths[i] / 2;
    const ends = children[i].length ? [centres[children[i][0]], centres[children[i].at(-1)]] : [lowest, highest];
    centres[i] = Math.min(Math.max((ends[0] + ends[1]) / 2, lowest), highest);
  }
  return { centres, depths, parents, width: blocks[0] - gap };
}

// The line from a node down to one below it: down, across, down; the corner is rounded.
function edgePath(x, y, fromX, fromY, middle) {
  const bend = Math.min(5, Math.abs(x - fromX)) * Math.sign(x - fromX);
  const across = bend ? `V${middle}H${x - bend}Q${x},${middle} ${x},${middle + Math.abs(bend)}` : "";
  return `M${fromX},${fromY}${across}V${y}`;
}

export { childrenOf, edgePath, layOut, make, textWidth };
