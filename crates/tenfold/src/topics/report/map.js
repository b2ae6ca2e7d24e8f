// The topic map: circles with the topics' shares as areas, near where their words are alike.
(() => {
  const { svg, percent } = tenfold;
  // Whether a circle has room for its id inside; a smaller one has it beside and needs room for both.
  const inside = (id, r) => r >= 3 + 3 * String(id).length;
  const wanted = (id, r) => (inside(id, r) ? r : r + 3 + 4 * String(id).length);

  // Moves circles that cover each other apart and lets each return towards its own place.
  function settle(circles, width, height) {
    for (let round = 0; round < 220; round++) {
      const pull = round < 160 ? 0.04 : 0;
      for (const c of circles) {
        c.x += (c.home[0] - c.x) * pull;
        c.y += (c.home[1] - c.y) * pull;
      }
      for (let i = 0; i < circles.length; i++) {
        for (let j = 0; j < i; j++) {
          const a = circles[i],
            b = circles[j],
            least = a.room + b.room + 1.5;
          let dx = a.x - b.x,
            dy = a.y - b.y,
            d = Math.hypot(dx, dy);
          if (d >= least) continue;
          if (d < 1e-6) {
            dx = Math.cos(i);
            dy = Math.sin(i);
            d = 1;
          }
          // The smaller circle gives way.
          const push = (least - d) / d,
            part = b.room ** 2 / (a.room ** 2 + b.room ** 2);
          a.x += dx * push * part;
          a.y += dy * push * part;
          b.x -= dx * push * (1 - part);
          b.y -= dy * push * (1 - part);
        }
      }
      for (const c of circles) {
        c.x = Math.max(c.room + 1, Math.min(width - c.room - 1, c.x));
        c.y = Math.max(c.room + 1, Math.min(height - c.room - 1, c.y));
      }
    }
  }

  function arrange(topics, width, height) {
    const area = width * height;
    const largest = Math.max(...topics.map((t) => t.share), 1e-9);
    // All circles together cover at most three tenths of the field: more could not be moved apart.
    const sum = topics.reduce((total, t) => total + t.share / largest, 0);
    const most = Math.min(0.17 * Math.min(width, height), Math.sqrt((0.3 * area) / (Math.PI * sum)));
    const xs = topics.map((t) => t.x),
      ys = topics.map((t) => t.y);
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const pad = most * 0.75 + 6;
    const zoom = Math.min((width - 2 * pad) / (x1 - x0 || 1), (height - 2 * pad) / (y1 - y0 || 1));
    const circles = topics.map((t, id) => {
      const home = [width / 2 + (t.x - (x0 + x1) / 2) * zoom, height / 2 - (t.y - (y0 + y1) / 2) * zoom];
      const r = Math.max(2, most * Math.sqrt(t.share / largest));
      return { id, home, x: home[0], y: home[1], r, room: wanted(id, r) };
    });
    // Where there is not room for all ids, those of small circles give way.
    const asked = Math.PI * circles.reduce((total, c) => total + c.room ** 2, 0),
      part = Math.min(1, Math.sqrt((0.5 * area) / asked));
    for (const c of circles) {
      c.named = part * c.room > 0.8 * wanted(c.id, c.r) || inside(c.id, c.r);
      c.room = Math.max(c.r + 0.5, part * c.room);
    }
    settle(circles, width, height);
    return circles;
  }

  // Draws into `node` and gives back what recolours it: by the chosen topic, and by the uses of a word.
  tenfold.topicMap = (node, data, name) => {
    let marks = [],
      uses = null;
    const colour = () => {
      for (const { id, disc, inner, group, r } of marks) {
        const on = id === tenfold.chosen;
        group.classList.toggle("chosen", on);
        group.setAttribute("aria-pressed", on);
        const share = uses ? uses.get(id) || 0 : 0;
        // The inner disc's area is the word's share in this topic.
        inner.setAttribute("r", uses ? Math.max(share > 0 ? 2.5 : 0, r * Math.sqrt(share)) : 0);
        disc.classList.toggle("faint", Boolean(uses));
      }
    };
    tenfold.draw(node, (width) => {
      const height = Math.round(Math.max(280, Math.min(540, width * 0.94)));
      const root = svg("svg", {
        class: "plot map",
        viewBox: `0 0 ${width} ${height}`,
        height,
        role: "group",
        "aria-label": "Topic map",
      });
      // Large circles first, so that small ones stay on top.
      marks = arrange(data.topics, width, height)
        .sort((a, b) => b.r - a.r || a.id - b.id)
        .map((c) => {
          const id = String(c.id),
            within = inside(c.id, c.r);
          // A small circle has its id beside it, and both share the room of a larger one.
          const x = c.named && !within ? c.x - 1.5 - 3.5 * id.length : c.x;
          const disc = svg("circle", { class: "disc", cx: x, cy: c.y, r: c.r });
          const inner = svg("circle", { class: "inner", cx: x, cy: c.y, r: 0 });
          const label = !c.named
            ? null
            : within
              ? svg("text", { class: "inside", x, y: c.y + 4, "text-anchor": "middle" }, id)
              : svg("text", { class: "outside", x: x + c.r + 2, y: c.y + 4 }, id);
          const about = () => `${name(c.id)}\n${percent(data.topics[c.id].share)} of tokens`;
          const show = () => {
            const b = disc.getBoundingClientRect();
            tenfold.showTip(about(), b.left + b.width / 2, b.top);
          };
          const group = svg(
            "g",
            {
              class: "topic",
              "data-topic": c.id,
              tabindex: 0,
              role: "button",
              "aria-label": about(),
              click: () => tenfold.choose(c.id),
              keydown: (event) => {
                if (event.key === "Enter" || event.key === " ") {
                  tenfold.choose(c.id);
                  event.preventDefault();
                }
              },
              pointerenter: show,
              focus: show,
              pointerleave: tenfold.hideTip,
              blur: tenfold.hideTip,
            },
            svg("circle", { class: "hit", cx: c.x, cy: c.y, r: Math.max(c.room, 6) }),
            disc,
            inner,
            label,
          );
          root.append(group);
          return { id: c.id, disc, inner, group, r: c.r };
        });
      node.replaceChildren(root);
      colour();
    });
    tenfold.onChoose(colour);
    return (found) => {
      uses = found;
      colour();
    };
  };
})();
