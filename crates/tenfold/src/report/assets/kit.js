"use strict";
// What all parts of the page share: elements, numbers in words, the chosen item, the tip, drawing at a width.
// Strangers' words reach the page only as text nodes and attribute values, never as markup.
const tenfold = (() => {
  const SVG = document.getElementById("ns").namespaceURI;
  const widgets = new Map(),
    choosing = [],
    picking = [],
    painting = [];
  let chosen = null;

  function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (typeof value === "function") node.addEventListener(name, value);
      else if (value !== null && value !== undefined && value !== false)
        node.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child);
    return node;
  }
  const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) =>
    fill(document.createElementNS(SVG, tag), attributes, children);
  // A stranger's word keeps its own direction of writing.
  const word = (text) => el("bdi", null, text);

  function number(x) {
    if (x === null || x === undefined || !Number.isFinite(x)) return "–";
    const size = Math.abs(x);
    let text;
    if (x === 0 || (Number.isInteger(x) && size < 1e6)) text = x.toLocaleString("en");
    else if (size >= 1e6 || size < 1e-4) text = x.toExponential(1).replace("e+", "e");
    else text = x.toLocaleString("en", { maximumSignificantDigits: size >= 1000 ? 4 : 3 });
    return text.replace(/-/g, "−");
  }
  function percent(x) {
    const y = 100 * x,
      digits = y >= 9.995 ? 1 : y >= 0.0995 ? 2 : y >= 0.00995 ? 3 : 4;
    return (y > 0 && y < 0.00005 ? "< 0.0001" : y.toFixed(y === 0 ? 0 : digits)) + " %";
  }

  const tip = el("div", { id: "tip", role: "status", hidden: true });
  document.body.append(tip);
  function showTip(text, x, y) {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect(),
      width = document.documentElement.clientWidth;
    tip.style.left = Math.max(6, Math.min(x - box.width / 2, width - box.width - 6)) + "px";
    tip.style.top = (y - box.height - 14 > 4 ? y - box.height - 14 : y + 18) + "px";
  }
  const hideTip = () => {
    tip.hidden = true;
  };
  addEventListener("scroll", hideTip, { passive: true });
  addEventListener("keydown", (event) => {
    if (event.key === "Escape") hideTip();
  });

  // Everything with data-item="3" belongs to item 3: choosing one chooses all of them.
  function choose(item) {
    chosen = item;
    for (const node of document.querySelectorAll("[data-item]")) {
      const on = node.dataset.item === String(item);
      node.classList.toggle("chosen", on);
      if (node.tagName === "BUTTON") node.setAttribute("aria-pressed", on);
    }
    choosing.forEach((tell) => tell(item));
  }
  // data-pick="17" is one of the many things that items are about, such as a node: picking one shows it.
  document.addEventListener("click", (event) => {
    const node = event.target.closest("[data-pick], [data-item]");
    // Words marked in a row are being copied, not chosen.
    if (!node || String(getSelection()) !== "") return;
    if (node.dataset.pick === undefined) choose(Number(node.dataset.item));
    else picking.forEach((tell) => tell(Number(node.dataset.pick)));
  });

  // Draws now, and again whenever the width changes; canvases also when colours change.
  function draw(node, paint) {
    let width = 0;
    const again = (force) => {
      const now = Math.floor(node.clientWidth);
      if (now > 0 && (force === true || now !== width)) {
        width = now;
        paint(now);
      }
    };
    painting.push(() => again(true));
    new ResizeObserver(() => again(false)).observe(node);
    again(true);
  }
  const repaint = () => painting.forEach((paint) => paint());
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  return {
    el,
    svg,
    word,
    number,
    percent,
    showTip,
    hideTip,
    choose,
    draw,
    repaint,
    colour,
    widget: (name, mount) => widgets.set(name, mount),
    mount: (name) => widgets.get(name),
    onChoose: (tell) => choosing.push(tell),
    onPick: (tell) => picking.push(tell),
    get chosen() {
      return chosen;
    },
  };
})();
