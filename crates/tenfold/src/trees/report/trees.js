// The tree: across the page or around a middle, folded by clicks, enlarged, searched, with what a node says beside it.
tenfold.widget("tree", (mount, data) => {
  const { el, word } = tenfold;
  const NEAREST = 44; // most pixels between rows
  const tree = tenfold.branches(data);
  const rank = new Map(data.groups.map(([group], i) => [group, i]));
  tenfold.grouped = (group) => rank.has(group);
  tenfold.groupTone = (group) => (rank.has(group) ? tenfold.tone(rank.get(group)) : "var(--quiet)");
  tenfold.swatch = (group) => {
    const mark = el("i", { class: "tone" });
    mark.style.background = tenfold.groupTone(group);
    return mark;
  };
  const about = tenfold.details(data, tree);
  const look = {
    folded: tenfold.foldTo(tree),
    view: { seen: [], count: 0 },
    round: false,
    gap: 0,
    zoom: 1,
    width: 0,
    picked: null,
    cursor: null,
    spots: new Map(),
  };
  const events = {
    keydown: key,
    click: press,
    pointerover: hover,
    pointerout: leave,
    blur: tenfold.hideTip,
  };
  const { paint: drawn, fit, shut, line: LINE } = tenfold.treeDrawing(tree, look, events);
  const field = el("div", { class: "tree-field", pointerdown: drag, wheel });
  let root = null;

  // Paints again and keeps what the reader sees and where the focus is.
  function paint() {
    const { root: fresh, place } = drawn();
    const [left, top] = [field.scrollLeft, field.scrollTop],
      focused = field.contains(document.activeElement);
    root = fresh;
    field.style.height = place.box + "px";
    field.classList.toggle("far", place.h > place.box || place.w > look.width);
    field.replaceChildren(root);
    field.scrollTo(left, top);
    if (focused) root.focus({ preventScroll: true });
    return place;
  }
  function centre(id) {
    const spot = look.spots.get(id);
    field.scrollTo(spot.x - field.clientWidth / 2, spot.y - field.clientHeight / 2);
  }
  // Paints again while a node stays where it is on the screen.
  function keep(id, change) {
    const before = look.spots.get(id),
      [left, top] = [field.scrollLeft, field.scrollTop];
    change();
    paint();
    const after = look.spots.get(id);
    if (before && after) field.scrollTo(left + after.x - before.x, top + after.y - before.y);
  }

  const at = (event) => {
    const near = event.target.closest && event.target.closest("[data-node]");
    return near ? tree.nodes[Number(near.dataset.node)] : null;
  };
  // A picture that is drawn again under a pointer at rest is not pointed at: keys may be at work.
  let pointer = [];
  const moved = (event) => event.clientX !== pointer[0] || event.clientY !== pointer[1];
  const track = (event) => {
    pointer = [event.clientX, event.clientY];
  };
  addEventListener("pointermove", track, { capture: true, passive: true });
  function hover(event) {
    const node = at(event);
    if (node && moved(event)) tenfold.showTip(about.tip(node), event.clientX, event.clientY);
  }
  function leave(event) {
    if (moved(event)) tenfold.hideTip();
  }
  let dragged = false;
  function press(event) {
    const node = at(event);
    if (dragged || !node) return;
    if (node.children.length) toggle(node);
    else finder.show(node.id);
  }
  function toggle(node) {
    const step = look.round ? 0 : look.gap || fit();
    look.cursor = node.id;
    keep(node.id, () => {
      if (look.folded.has(node.id)) look.folded.delete(node.id);
      else look.folded.add(node.id);
      // Rows stay as far apart as they were.
      if (step >= LINE - 3) look.gap = Math.min(Math.max(step, LINE), 30);
    });
  }
  function reveal(node) {
    for (let up = node.parent; up !== null; up = tree.nodes[up].parent) {
      if (look.folded.delete(up) && !look.round && (look.gap || fit()) >= LINE - 3)
        look.gap = Math.max(look.gap, LINE);
    }
  }
  function key(event) {
    const order = look.view.seen,
      here = order.findIndex((n) => n.id === look.cursor),
      node = here < 0 ? null : order[here];
    const go = (next) => {
      look.cursor = next.id;
      paint();
      const spot = look.spots.get(look.cursor),
        box = field.getBoundingClientRect();
      if (spot.y < field.scrollTop + 20 || spot.y > field.scrollTop + box.height - 20 || look.round)
        centre(look.cursor);
      tenfold.showTip(
        about.tip(next),
        box.left + spot.x - field.scrollLeft,
        box.top + spot.y - field.scrollTop,
      );
    };
    const turn = (own) => {
      toggle(own);
      go(own);
    };
    const steps = { ArrowDown: here + 1, ArrowUp: Math.max(here - 1, 0), Home: 0, End: order.length - 1 };
    if (event.key in steps) go(order[Math.min(steps[event.key], order.length - 1)]);
    else if (event.key === "+" || event.key === "=") enlarge(1.4);
    else if (event.key === "-") enlarge(1 / 1.4);
    else if (!node) return;
    else if (event.key === "ArrowRight" && shut(node)) turn(node);
    else if (event.key === "ArrowRight" && node.children.length) go(node.children[0]);
    else if (event.key === "ArrowLeft" && node.children.length && !shut(node) && node.parent !== null)
      turn(node);
    else if (event.key === "ArrowLeft" && node.parent !== null) go(tree.nodes[node.parent]);
    else if (event.key === "Enter" || event.key === " ") finder.show(node.id);
    else return;
    event.preventDefault();
  }
  function drag(down) {
    dragged = false;
    if (down.pointerType === "touch" || down.button !== 0) return;
    const from = [down.clientX, down.clientY, field.scrollLeft, field.scrollTop];
    const move = (event) => {
      const by = [event.clientX - from[0], event.clientY - from[1]];
      if (Math.hypot(...by) > 4) dragged = true;
      if (dragged) field.scrollTo(from[2] - by[0], from[3] - by[1]);
    };
    const up = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", up);
      removeEventListener("pointercancel", up);
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", up);
    addEventListener("pointercancel", up);
  }
  // Plain turning of the wheel moves the page or the picture; with Ctrl, or two fingers, it enlarges.
  function wheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const box = field.getBoundingClientRect();
    enlarge(Math.exp(-0.004 * event.deltaY), [event.clientX - box.left, event.clientY - box.top]);
  }
  function enlarge(by, about) {
    const [px, py] = about || [field.clientWidth / 2, field.clientHeight / 2];
    const share = [(field.scrollLeft + px) / root.clientWidth, (field.scrollTop + py) / root.clientHeight];
    if (look.round) look.zoom = by === 0 ? 1 : Math.max(1, Math.min(12, look.zoom * by));
    else {
      const all = Math.min(fit(), 30);
      look.gap = by === 0 ? all : Math.max(all, Math.min(NEAREST, (look.gap || all) * by));
      if (by === 0 && look.view.count * LINE + 28 <= (look.width < 600 ? 560 : 764)) look.gap = 0;
    }
    const place = paint();
    field.scrollTo(share[0] * place.w - px, share[1] * place.h - py);
  }

  const finder = tenfold.finder({
    id: "variable",
    label: "Variable",
    placeholder: tree.nodes[0].name,
    names: data.nodes.map((node) => (node ? node.name : "")),
    answer: (id) => {
      look.picked = look.cursor = id;
      reveal(tree.nodes[id]);
      paint();
      centre(id);
      groups.hidden = true;
      return about.panel(tree.nodes[id]);
    },
    absent: () => `is not among the ${data.observed.toLocaleString("en")} variables of this tree.`,
    cleared: () => {
      look.picked = look.cursor = null;
      groups.hidden = false;
      if (look.width) paint();
    },
  });
  tenfold.onPick((id) => {
    finder.show(id);
    field.scrollIntoView({ block: "nearest" });
  });

  const everything = el(
    "button",
    { type: "button", class: "none", hidden: true, click: () => tenfold.choose(null) },
    "Show all groups",
  );
  const groups = el(
    "div",
    { class: "panel tree-groups" },
    el("h3", null, data.groups.length === 1 ? "One group" : `${data.groups.length} groups`),
    el("p", { class: "quiet" }, "Groups are branches that hang together. Choose one to see it in the tree."),
    el(
      "ul",
      null,
      data.groups.map(([group, size]) =>
        el(
          "li",
          null,
          el(
            "button",
            { type: "button", class: "chip", "data-item": group },
            tenfold.swatch(group),
            `Group ${group}`,
          ),
          el(
            "span",
            { class: "quiet" },
            word(
              tree.all
                .filter((n) => !n.hidden && n.cluster === group)
                .slice(0, 3)
                .map((n) => n.name)
                .join(", "),
            ),
          ),
          el("span", { class: "number" }, size),
        ),
      ),
    ),
    everything,
  );
  tenfold.onChoose((item) => {
    const own = tree.all.filter((n) => item !== null && n.group === item);
    own
      .filter((n) => n.parent === null || tree.nodes[n.parent].group !== item)
      .forEach((n) => {
        reveal(n);
        if (n.children.length && n.size <= 30) look.folded.delete(n.id);
      });
    everything.hidden = item === null;
    if (!look.width) return;
    paint();
    const first = own.filter((n) => look.spots.has(n.id)).sort((a, b) => a.row - b.row);
    if (first.length) centre(first[first.length >> 1].id);
  });

  const button = (text, click, name) => el("button", { type: "button", "aria-label": name, click }, text);
  const shape = (value, text) =>
    el(
      "button",
      {
        type: "button",
        "aria-pressed": String(value === look.round),
        click: () => {
          look.round = value;
          shapes.forEach((b, i) => b.setAttribute("aria-pressed", String(Boolean(i) === look.round)));
          paint();
          field.scrollTo(0, 0);
        },
      },
      text,
    );
  const shapes = [shape(false, "Across"), shape(true, "Round")];
  const fold = (which) => () => {
    look.folded = which();
    look.gap = 0;
    look.zoom = 1;
    paint();
    if (!look.round && fit() < LINE) {
      look.gap = fit();
      paint();
    }
    field.scrollTo(0, 0);
  };
  const inner = tree.all.filter((n) => n.children.length);
  const tools = el(
    "div",
    { class: "tree-tools" },
    el("div", { class: "switch", role: "group", "aria-label": "Shape" }, shapes),
    el(
      "div",
      { class: "switch", role: "group", "aria-label": "Branches" },
      button(
        "Fold",
        fold(() => tenfold.foldTo(tree)),
      ),
      button(
        "Unfold all",
        fold(() => new Set()),
      ),
    ),
    el(
      "div",
      { class: "switch", role: "group", "aria-label": "Size" },
      button("+", () => enlarge(1.5), "Enlarge"),
      button("−", () => enlarge(1 / 1.5), "Make smaller"),
      button("All", () => enlarge(0), "Show all"),
    ),
  );
  if (inner.length < 3) tools.children[1].hidden = true;
  mount.append(
    el("div", { class: "controls" }, tools, finder.form),
    finder.offers,
    el(
      "div",
      { class: "tree-panes" },
      el("div", { class: "panel tree-panel" }, field),
      el("div", { class: "tree-side" }, finder.result, groups),
    ),
    el(
      "p",
      { class: "note" },
      "Click a branch to fold or unfold it, a variable to see more of it. Lines are as long as their length, as thick as they are strong",
      tree.all.some((n) => n.edge && n.edge.support !== null)
        ? ", and as faint as they lack support (the small numbers, in percent). "
        : ". ",
      "Drag or scroll to move; Ctrl and the wheel enlarge. Arrow keys walk through the tree.",
    ),
  );
  for (const chip of document.querySelectorAll("td.items [data-item]"))
    chip.prepend(tenfold.swatch(Number(chip.dataset.item)));
  tenfold.draw(field, (now) => {
    look.width = now;
    paint();
  });
});
