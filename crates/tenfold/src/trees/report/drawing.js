// Draws a tree as it is looked at: nodes, edges, wedges for folded branches, and the labels that have room.
(() => {
  const { svg } = tenfold;
  // Pixels between rows whose labels are read with ease.
  const LINE = 17;

  // `look`: folded (ids), round (or across), gap (pixels between rows across; 0 fits all), zoom (around), width, picked and
  // cursor (ids or null). Painting sets view (rows) and spots (places of nodes).
  tenfold.treeDrawing = (tree, look, events) => {
    const tone = (node) => (node.group === null ? "var(--quiet)" : tenfold.groupTone(node.group));
    const ruler = document.createElement("canvas").getContext("2d");
    ruler.font = "100px " + getComputedStyle(document.body).fontFamily;
    // As much of a text as fits into so many pixels at this size of letters.
    function cut(text, room, size) {
      const wide = (t) => (ruler.measureText(t).width * size) / 100;
      if (wide(text) <= room) return text;
      let [low, high] = [1, text.length];
      while (low < high) {
        const half = (low + high + 1) >> 1;
        if (wide(text.slice(0, half) + "…") <= room) low = half;
        else high = half - 1;
      }
      // Never half of a pair that is one letter together.
      return (
        text
          .slice(0, low)
          .replace(/[\ud800-\udbff]$/, "")
          .trimEnd() + "…"
      );
    }
    const r1 = (x) => Math.round(10 * x) / 10;
    const inside = (node) => !node.hidden && node.children.length > 0 && !look.folded.has(node.id);
    const ringed = (node) => node.id === look.cursor || node.id === look.picked;
    const shut = (node) => look.folded.has(node.id) && node.children.length > 0;

    // The variables of a branch, the nearest first.
    function members(node, most) {
      const found = [],
        open = [node];
      while (open.length && found.length < most) {
        const next = open.shift();
        if (!next.hidden) found.push(next.name);
        open.push(...next.children);
      }
      return found;
    }
    function label(node, room, size) {
      // Bold letters, of variables inside the tree, are wider.
      if (!shut(node)) return [cut(node.name, inside(node) ? 0.9 * room : room, size)];
      const count = `${node.size} `;
      return [
        svg("tspan", { class: "count" }, count),
        cut(members(node, 4).join(", "), room - 0.75 * size * count.length, size),
      ];
    }
    // Few rows may stand farther apart.
    const easy = () => Math.max(LINE, Math.min(27, 400 / Math.max(look.view.count, 1)));
    const room = () => Math.min(0.46 * look.width, 250);
    const height = () => {
      const most = look.width < 600 ? 560 : 764;
      return look.round
        ? Math.round(Math.min(most, Math.max(300, look.width)))
        : Math.round(Math.max(200, Math.min(most, look.view.count * (look.gap || easy()) + 28)));
    };
    // Variables that hang on nothing stand below all trees: one scrolls to them.
    const alone = tree.roots.filter((node) => !node.children.length).length;
    const fit = () => (height() - 28) / Math.max(look.view.count - alone, Math.min(look.view.count, 20));

    // Places on the picture, and its size.
    function arrange() {
      look.view = tenfold.rows(tree, look.folded);
      look.spots = new Map();
      const h = height();
      if (!look.round) {
        const step = Math.max(look.gap || Math.min(fit(), 30), fit() > 30 ? 30 : fit());
        const wide = look.width - room() - 22;
        const down = (row) => r1(14 + (row + 0.5) * step);
        for (const node of look.view.seen) {
          const x = r1(12 + node.at * wide);
          look.spots.set(node.id, {
            x,
            y: down(node.row),
            own: inside(node) ? { x, y: down(node.own) } : null,
          });
        }
        return { w: look.width, h: Math.max(h, Math.round(look.view.count * step + 28)), step, wide, box: h };
      }
      const w = Math.round(look.width * look.zoom),
        tall = Math.round(h * look.zoom),
        space = Math.min(170, 0.22 * Math.min(look.width, h) + 20),
        radius = Math.max(60, Math.min(w, tall) / 2 - space - 10),
        several = tree.roots.length > 1;
      const deepest = Math.max(...look.view.seen.map((n) => n.at), 1e-9);
      const turn = (row) => (2 * Math.PI * (row + 0.5)) / Math.max(look.view.count, 1) - Math.PI / 2;
      for (const node of look.view.seen) {
        // Near the middle there is little room: depths there are stretched.
        const deep = Math.pow(node.at / deepest, 0.75),
          from = radius * 0.86 * (several ? 0.12 + 0.88 * deep : deep);
        const put = (angle) => ({
          x: r1(w / 2 + from * Math.cos(angle)),
          y: r1(tall / 2 + from * Math.sin(angle)),
          angle,
          from,
        });
        look.spots.set(node.id, { ...put(turn(node.row)), own: inside(node) ? put(turn(node.own)) : null });
      }
      return {
        w,
        h: tall,
        step: (2 * Math.PI * radius) / Math.max(look.view.count, 1),
        radius,
        space,
        box: h,
      };
    }

    // A point around the middle.
    const polar = (place, from, angle) =>
      `${r1(place.w / 2 + from * Math.cos(angle))} ${r1(place.h / 2 + from * Math.sin(angle))}`;
    // From a node to where it leaves the line, or arc, of the node above.
    function branch(node, place) {
      const own = look.spots.get(node.id),
        above = look.spots.get(node.parent);
      return look.round
        ? `M${polar(place, above.from, own.angle)}L${own.x} ${own.y}`
        : `M${above.x} ${own.y}H${own.x}`;
    }
    // The line, or arc, at the depth of a node from the row of one to that of another.
    function bar(own, a, b, place) {
      if (!look.round) return `M${own.x} ${a.y}V${b.y}`;
      const r = r1(own.from);
      const long = Math.abs(b.angle - a.angle) > Math.PI ? 1 : 0;
      return `M${polar(place, r, a.angle)}A${r} ${r} 0 ${long} ${b.angle > a.angle ? 1 : 0} ${polar(place, r, b.angle)}`;
    }
    // A folded branch is a wedge as deep as what it holds.
    function wedge(node, place) {
      const { x, y, angle, from } = look.spots.get(node.id),
        half = Math.min(8, 0.42 * place.step);
      if (!look.round) {
        const to = r1(Math.max(x + 10, 12 + node.reach * place.wide));
        return { d: `M${x} ${y}L${to} ${r1(y - half)}V${r1(y + half)}Z`, x: to, y };
      }
      const far = Math.min(place.radius - 2, from + 14 + 12 * Math.log2(node.size)),
        [cx, cy] = [place.w / 2, place.h / 2];
      const at = (r, off) =>
        `${r1(cx + r * Math.cos(angle) - off * Math.sin(angle))} ${r1(cy + r * Math.sin(angle) + off * Math.cos(angle))}`;
      return { d: `M${x} ${y}L${at(far, half)}L${at(far, -half)}Z`, far };
    }
    // Labels that do not cover each other: the picked one first, folded branches by size, then every one that still has room.
    function labelled(place) {
      const ends = look.view.seen.filter((n) => !n.hidden || shut(n));
      const row = (n) => (inside(n) ? n.own : n.row);
      const apart = 11.5 / place.step;
      const weight = (n) =>
        (n.id === look.picked || n.id === look.cursor ? 1e9 : chosen(n) ? 1e6 : 0) + (shut(n) ? n.size : 0);
      const taken = [];
      const near = (row) => {
        const at = Math.floor(row / apart);
        return [at - 1, at, at + 1].some(
          (k) => taken[k] !== undefined && Math.abs(taken[k] - row) < apart - 1e-9,
        );
      };
      // Around a middle the last row stands beside the first.
      const count = look.view.count;
      const free = (row) => {
        if (near(row) || (look.round && (near(row - count) || near(row + count)))) return false;
        taken[Math.floor(row / apart)] = row;
        return true;
      };
      if (apart <= 1) return new Set(ends.map((n) => n.id));
      ends.sort((a, b) => weight(b) - weight(a) || row(a) - row(b));
      return new Set(ends.filter((n) => free(row(n))).map((n) => n.id));
    }
    const chosen = (node) => tenfold.chosen !== null && node.group === tenfold.chosen;

    // Across, a label stands at the end of its line, or, where rows are close, all stand in one column; around, all stand on
    // one ring. A thin line leads there.
    function text(node, place, end) {
      const size = Math.min(13, Math.max(11, place.step));
      if (!look.round) {
        const dense = place.step < 11.5,
          x = dense ? 16 + place.wide : end.x;
        return [
          dense && x > end.x + 8
            ? svg("path", { class: "lead", d: `M${end.x + 4} ${end.y}H${r1(x + 4)}` })
            : null,
          svg(
            "text",
            { x: x + (ringed(node) ? 12 : 7), y: end.y + 4, "font-size": size },
            label(node, place.w - x - 12, size),
          ),
        ];
      }
      const { angle, from } = look.spots.get(node.id).own || look.spots.get(node.id),
        left = Math.cos(angle) < -1e-9,
        turn = (180 * angle) / Math.PI + (left ? 180 : 0);
      const start = end.far === undefined ? from + 5 : end.far + 2;
      return [
        start < place.radius
          ? svg("path", {
              class: "lead",
              d: `M${polar(place, start, angle)}L${polar(place, place.radius + 3, angle)}`,
            })
          : null,
        svg(
          "text",
          {
            transform: `translate(${polar(place, place.radius + 7, angle)}) rotate(${r1(turn)})`,
            "text-anchor": left ? "end" : "start",
            dy: "0.34em",
            "font-size": size,
          },
          label(node, place.space, size),
        ),
      ];
    }
    function mark(node, place, names) {
      const spot = look.spots.get(node.id).own || look.spots.get(node.id),
        small = place.step < 7;
      const group = svg("g", {
        class: "node" + (inside(node) ? " inside" : "") + (chosen(node) ? " chosen" : ""),
        "data-node": node.id,
      });
      let end = spot;
      if (shut(node)) {
        end = wedge(node, place);
        group.append(svg("path", { class: "wedge", d: end.d, fill: tone(node) }));
      } else if (node.hidden) {
        if (!small || ringed(node))
          group.append(svg("circle", { class: "inner", cx: spot.x, cy: spot.y, r: 4.2, stroke: tone(node) }));
      } else
        group.append(
          svg("circle", { class: "tip", cx: spot.x, cy: spot.y, r: small ? 1.8 : 3.6, fill: tone(node) }),
        );
      if (names.has(node.id)) group.append(...text(node, place, end).filter((part) => part));
      if (ringed(node)) group.append(svg("circle", { class: "ring", cx: r1(spot.x), cy: r1(spot.y), r: 8 }));
      return group;
    }
    // Whether a number at this place would cover the label of a row.
    function ends(place) {
      const from = look.view.seen
        .filter((n) => !n.hidden || shut(n))
        .map((n) => look.spots.get(n.id).own || look.spots.get(n.id));
      const byRow = new Map(from.map((spot) => [Math.round((spot.y - 14) / place.step - 0.5), spot.x]));
      return (x, y) => {
        const row = Math.round((y - 14) / place.step - 0.5);
        return [row - 1, row].some(
          (r) => byRow.has(r) && byRow.get(r) < x + 10 && Math.abs(14 + (r + 0.5) * place.step - y) < 9,
        );
      };
    }
    function paint() {
      const place = arrange(),
        names = labelled(place),
        path = new Set();
      for (let at = look.picked; at !== null; at = tree.nodes[at].parent) path.add(at);
      const root = svg("svg", {
        class: "tree" + (tenfold.chosen === null ? "" : " dimmed"),
        width: place.w,
        height: place.h,
        viewBox: `0 0 ${place.w} ${place.h}`,
        tabindex: 0,
        role: "application",
        "aria-label": `Tree of ${tree.observed} variables. Up and down go from node to node, left and right fold and unfold, Enter tells more.`,
        ...events,
      });
      const thin = Math.min(1, Math.max(0.35, place.step / 12));
      const edges = svg("g", { class: "edges" }),
        marks = svg("g", null),
        supports = svg("g", { class: "supports" });
      const crowded = ends(place);
      for (const node of look.view.seen) {
        const own = look.spots.get(node.id);
        if (node.children.length && !shut(node))
          edges.append(
            svg("path", {
              class: "bar" + (chosen(node) ? " chosen" : ""),
              d: bar(
                own,
                own.own || look.spots.get(node.children[0].id),
                look.spots.get(node.children.at(-1).id),
                place,
              ),
              stroke: tone(node),
              "stroke-width": r1(2 * thin),
            }),
          );
        if (node.parent !== null) {
          const { strength, support } = node.edge,
            above = look.spots.get(node.parent);
          if (path.has(node.id))
            edges.append(svg("path", { class: "way", d: bar(above, above, own, place) }));
          edges.append(
            svg("path", {
              class: "edge" + (path.has(node.id) ? " way" : "") + (chosen(node) ? " chosen" : ""),
              "data-node": node.id,
              d: branch(node, place),
              stroke: tone(node),
              "stroke-width": r1((1 + 4.5 * strength) * thin),
              "stroke-opacity": support === null ? 0.9 : r1(0.25 + 0.7 * support),
            }),
          );
          const middle = (own.x + above.x) / 2;
          if (
            !look.round &&
            support !== null &&
            node.hidden &&
            place.step >= 14 &&
            own.x - above.x > 36 &&
            !crowded(middle, own.y - 9)
          )
            supports.append(
              svg(
                "text",
                { x: r1(middle), y: own.y - 5, "text-anchor": "middle" },
                Math.round(100 * support),
              ),
            );
        }
        marks.append(mark(node, place, names));
      }
      root.append(edges, supports, marks);
      return { root, place };
    }

    return { paint, fit, shut, line: LINE, height };
  };
})();
