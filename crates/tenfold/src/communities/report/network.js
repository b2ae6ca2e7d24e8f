// The network: nodes as pies of their memberships, where the layout put them, with the links between them.
(() => {
  const { el, svg } = tenfold;
  const CLOSEST = 8; // most times that the picture is enlarged
  const NAMED = 7; // members of the chosen community that are named

  const round = (x) => Math.round(10 * x) / 10;
  // A slice from one share of the turn to another.
  function slice(r, from, to) {
    const at = (turn) => {
      const angle = 2 * Math.PI * turn - Math.PI / 2;
      return `${round(r * Math.cos(angle))} ${round(r * Math.sin(angle))}`;
    };
    return `M0 0L${at(from)}A${r} ${r} 0 ${to - from > 0.5 ? 1 : 0} 1 ${at(to)}Z`;
  }
  // Memberships as slices of a disc, or as stripes of a square for the right side.
  function shape(mix, r, square) {
    const outline = square
      ? svg("rect", { class: "body rest", x: -r, y: -r, width: 2 * r, height: 2 * r })
      : svg("circle", { class: "body rest", r });
    const parts = [outline];
    let from = 0;
    for (const [c, share] of mix) {
      const to = Math.min(1, from + share),
        fill = tenfold.tone(c);
      if (share > 0.98) {
        outline.setAttribute("class", "body");
        outline.setAttribute("fill", fill);
        break;
      }
      if (share > 0.015)
        parts.push(
          square
            ? svg("rect", {
                fill,
                x: round(-r + 2 * r * from),
                y: -r,
                width: round(2 * r * (to - from)),
                height: 2 * r,
              })
            : svg("path", { fill, d: slice(r, from, to) }),
        );
      from = to;
    }
    return parts;
  }

  // Draws into `field`; `pick` is told which node is clicked. Gives back what rings a node.
  tenfold.network = (field, data, nodes, pick) => {
    const drawing = data.drawing,
      count = drawing.nodes.length;
    const place = new Map(drawing.nodes.map((at, i) => [at, i]));
    const largest = Math.max(...drawing.nodes.map(nodes.degree), 1e-9);
    let zoom = 1,
      middle = [0.5, 0.5],
      marks = [],
      ringed = null,
      cursor = -1,
      root = null,
      inside = null,
      names = null,
      ring = null,
      size = [0, 0];

    const spot = (i) => {
      const [w, h] = size,
        pad = 14;
      const fit = Math.min((w - 2 * pad) / drawing.width, (h - 2 * pad) / drawing.height) * zoom;
      return [
        w / 2 + (drawing.x[i] - middle[0] * drawing.width) * fit,
        h / 2 + (drawing.y[i] - middle[1] * drawing.height) * fit,
      ].map(round);
    };
    const radius = (i) => {
      const base = Math.max(2.6, Math.min(7, 90 / Math.sqrt(count))) * (size[0] < 480 ? 0.75 : 1);
      return round(
        base * (0.7 + 0.9 * Math.sqrt(nodes.degree(drawing.nodes[i]) / largest)) * Math.sqrt(zoom),
      );
    };

    function tip(i) {
      const box = marks[i].group.getBoundingClientRect();
      tenfold.showTip(nodes.about(drawing.nodes[i]), box.left + box.width / 2, box.top);
    }
    const lines = (keep) => {
      let d = "";
      for (let e = 0; e < drawing.links.length; e += 2) {
        const [a, b] = [drawing.links[e], drawing.links[e + 1]];
        if (keep(a, b)) d += `M${marks[a].spot.join(" ")}L${marks[b].spot.join(" ")}`;
      }
      return d;
    };

    // Fades what has nothing of the chosen community, draws its links again on top and names its leading members.
    function colour() {
      const chosen = tenfold.chosen;
      const share = (i) => (chosen === null ? 1 : nodes.share(drawing.nodes[i], chosen));
      marks.forEach(({ group }, i) => {
        const s = share(i);
        group.setAttribute(
          "opacity",
          chosen === null ? 1 : s < 0.02 ? 0.1 : round(0.35 + 0.65 * Math.min(1, 1.4 * s)),
        );
      });
      root.classList.toggle("dimmed", chosen !== null);
      inside.setAttribute("d", chosen === null ? "" : lines((a, b) => share(a) > 0.2 && share(b) > 0.2));
      inside.setAttribute("stroke", chosen === null ? "none" : tenfold.tone(chosen));
      const all = marks.map((_, i) => i),
        order = all.sort((a, b) => weight(b) - weight(a) || a - b);
      function weight(i) {
        return (i === place.get(ringed) ? 1e12 : 0) + share(i) * nodes.degree(drawing.nodes[i]);
      }
      const wanted = chosen === null ? (count <= 40 ? count : place.has(ringed) ? 1 : 0) : NAMED;
      label(order.slice(0, wanted).filter((i) => share(i) > 0.2 || i === place.get(ringed)));
      const at = place.get(ringed);
      ring.setAttribute("visibility", at === undefined ? "hidden" : "visible");
      if (at !== undefined) {
        ring.setAttribute("transform", `translate(${marks[at].spot.join(" ")})`);
        ring.setAttribute("r", radius(at) + 4);
      }
    }
    // Names beside their nodes, but for those that would cover another.
    function label(wanted) {
      const taken = [];
      names.replaceChildren();
      for (const i of wanted) {
        const text = nodes.short(data.ids[drawing.nodes[i]], 22),
          [x, y] = marks[i].spot,
          wide = 7 * text.length + 6,
          off = radius(i) + (i === place.get(ringed) ? 8 : 3);
        const left = x + off + wide > size[0];
        const from = left ? x - off - wide : x + off;
        const box = [from, y - 8, from + wide, y + 8];
        if (taken.some((t) => box[0] < t[2] && box[2] > t[0] && box[1] < t[3] && box[3] > t[1])) continue;
        taken.push(box);
        names.append(
          svg(
            "text",
            { x: left ? from + wide : from, y: y + 4, "text-anchor": left ? "end" : "start" },
            text,
          ),
        );
      }
    }

    function paint() {
      const [w, h] = size;
      ring = svg("circle", { class: "ring", visibility: "hidden" });
      inside = svg("path", { class: "inside" });
      names = svg("g", { class: "names" });
      const links = svg("path", { class: "links" });
      root = svg("svg", {
        class: "plot network" + (zoom > 1 ? " near" : ""),
        viewBox: `0 0 ${w} ${h}`,
        height: h,
        tabindex: 0,
        role: "img",
        "aria-label": `Network of ${count} nodes. Arrow keys go from node to node, Enter shows one.`,
        keydown: key,
        blur: tenfold.hideTip,
        pointerdown: drag,
      });
      marks = drawing.nodes.map((at, i) => {
        const group = svg(
          "g",
          {
            class: "node",
            "data-node": at,
            click: () => pick(at),
            pointerenter: () => tip(i),
            pointerleave: tenfold.hideTip,
          },
          shape(nodes.mixes[at], radius(i), nodes.right(at)),
        );
        const mark = { group, spot: spot(i) };
        group.setAttribute("transform", `translate(${mark.spot.join(" ")})`);
        return mark;
      });
      links.setAttribute(
        "d",
        lines(() => true),
      );
      // Small nodes stand on large ones.
      const order = marks.map((_, i) => i).sort((a, b) => radius(b) - radius(a) || a - b);
      root.append(links, inside, ...order.map((i) => marks[i].group), ring, names);
      field.replaceChildren(root);
      colour();
    }
    function key(event) {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -count, End: count }[event.key];
      if (step) {
        cursor = Math.max(0, Math.min(count - 1, cursor + step));
        tip(cursor);
        event.preventDefault();
      }
      if (event.key === "Enter" && cursor >= 0) pick(drawing.nodes[cursor]);
    }
    // An enlarged picture is moved by dragging it.
    function drag(down) {
      if (zoom === 1) return;
      const from = [down.clientX, down.clientY],
        own = root;
      let by = [0, 0];
      const move = (event) => {
        by = [event.clientX - from[0], event.clientY - from[1]];
        if (Math.hypot(...by) > 4) own.setAttribute("viewBox", `${-by[0]} ${-by[1]} ${size.join(" ")}`);
      };
      const up = () => {
        removeEventListener("pointermove", move);
        removeEventListener("pointerup", up);
        removeEventListener("pointercancel", up);
        if (Math.hypot(...by) <= 4) return;
        const fit = Math.min(size[0] / drawing.width, size[1] / drawing.height) * zoom;
        middle = [middle[0] - by[0] / fit / drawing.width, middle[1] - by[1] / fit / drawing.height];
        paint();
      };
      addEventListener("pointermove", move);
      addEventListener("pointerup", up);
      addEventListener("pointercancel", up);
    }
    // What the reader looks at: the ringed node, or the middle of the chosen community, or of all.
    function looked() {
      const at = place.get(ringed),
        chosen = tenfold.chosen;
      const seen = marks
        .map((_, i) => i)
        .filter((i) => (at !== undefined ? i === at : chosen !== null && nodes.share(drawing.nodes[i], chosen) > 0.5));
      if (!seen.length) return [0.5, 0.5];
      const mean = (values, side) => seen.reduce((sum, i) => sum + values[i], 0) / seen.length / side;
      return [mean(drawing.x, drawing.width), mean(drawing.y, drawing.height)];
    }
    function enlarge(by) {
      if (zoom === 1) middle = looked();
      zoom = by === 0 ? 1 : Math.max(1, Math.min(CLOSEST, zoom * by));
      if (zoom === 1) middle = [0.5, 0.5];
      paint();
    }
    tenfold.draw(field, (width) => {
      size = [width, Math.round(Math.max(330, Math.min(620, width * 0.9)))];
      paint();
    });
    tenfold.onChoose(() => colour());
    const button = (label, text, by) =>
      el("button", { type: "button", "aria-label": label, click: () => enlarge(by) }, text);
    return {
      buttons: el(
        "div",
        { class: "zoom" },
        button("Enlarge", "+", 1.6),
        button("Make smaller", "−", 1 / 1.6),
        button("Show all", "All", 0),
      ),
      ring: (at) => {
        ringed = at;
        colour();
      },
    };
  };
})();
