// A matrix of items against items on a canvas: thousands of cells stay quick. Either symmetric around zero, the triangle
// below the diagonal in thousandths, or whole and from zero on, where colours go with the root so that small entries show.
(() => {
  const { el, number } = tenfold;
  const parse = (name) => {
    const digits = tenfold.colour(name).replace("#", "");
    return [0, 2, 4].map((i) => parseInt(digits.slice(i, i + 2), 16));
  };
  // A colour between two of the page's own, as numbers: part 0 is the first, 1 the second.
  tenfold.between = (from, to) => {
    const [a, b] = [parse(from), parse(to)];
    return (part) => a.map((x, i) => Math.round(x + (b[i] - x) * part));
  };

  tenfold.widget("heatmap", (node, plot) => {
    const n = plot.labels.length;
    const whole = Boolean(plot.cells);
    const below = (i, j) => plot.below[(Math.max(i, j) * (Math.max(i, j) - 1)) / 2 + Math.min(i, j)];
    const value = (i, j) =>
      whole ? plot.cells[i * n + j] : i === j ? null : (below(i, j) / 1000) * plot.full;
    const canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": plot.caption });
    const readout = el("p", { class: "readout", role: "status" });
    const full = number(plot.full);
    const ramp = el(
      "div",
      { class: whole ? "ramp rising" : "ramp", "aria-hidden": "true" },
      whole ? "0" : "−" + full,
      el("i"),
      full,
    );
    const box = el("div", { class: "heat" }, canvas);
    node.append(ramp, box, readout);
    let cell = 10,
      margin = 30,
      at = null;

    function paint(width) {
      margin = 12 + 7 * String(plot.labels[n - 1] || "").length + 6;
      const most = whole ? Math.max(40, Math.min(90, 300 / n)) : 26;
      cell = Math.max(1, Math.min(most, (width - margin - 8) / n)); // the last label is wider than its cell
      const size = Math.floor(margin + cell * n + 8),
        ratio = devicePixelRatio || 1;
      canvas.width = canvas.height = Math.round(size * ratio);
      canvas.style.width = canvas.style.height = size + "px";
      const c = canvas.getContext("2d");
      c.scale(ratio, ratio);
      const up = tenfold.between("--zero", whole ? "--accent" : "--hot"),
        down = tenfold.between("--zero", "--cold");
      const shade = (v) => {
        const part = Math.min(1, Math.abs(v) / (plot.full || 1));
        return (v < 0 ? down : up)(whole ? Math.sqrt(part) : part).join();
      };
      const gap = cell > 8 ? 1 : 0;
      for (let i = 0; i < n; i++) {
        for (let j = 0; j < n; j++) {
          const v = value(i, j);
          if (v === null) continue;
          c.fillStyle = `rgb(${shade(v)})`;
          c.fillRect(margin + j * cell, margin + i * cell, cell - gap, cell - gap);
        }
      }
      c.fillStyle = tenfold.colour("--muted");
      c.font = "11px system-ui, sans-serif";
      c.textBaseline = "middle";
      const every = Math.ceil(18 / cell);
      for (let i = 0; i < n; i += every) {
        c.textAlign = "right";
        c.fillText(plot.labels[i], margin - 6, margin + (i + 0.5) * cell);
        c.textAlign = "center";
        c.fillText(plot.labels[i], margin + (i + 0.5) * cell, margin - 9);
      }
      c.strokeStyle = tenfold.colour("--ink");
      c.lineWidth = 1.5;
      const item = tenfold.chosen;
      if (item !== null && item < n) {
        c.strokeStyle = tenfold.colour(whole ? "--second" : "--accent");
        c.strokeRect(margin, margin + item * cell, n * cell - gap, cell - gap);
      }
      if (at) {
        c.strokeStyle = tenfold.colour("--ink");
        c.strokeRect(margin + at[1] * cell, margin + at[0] * cell, cell - gap, cell - gap);
      }
    }
    const again = () => {
      const width = Math.floor(box.clientWidth);
      if (width) paint(width);
    };

    function show(i, j) {
      at = [i, j];
      const v = value(i, j);
      const [from, to] = [i, j].map((at) => `${plot.x} ${plot.labels[at]}`);
      const pair = !whole ? `${from} with ${i === j ? "itself" : to}` : `${from} ${plot.between} ${to}`;
      readout.textContent = v === null && !whole ? pair : `${pair}: ${number(v)}`;
      again();
    }
    function find(event) {
      const box = canvas.getBoundingClientRect();
      const [i, j] = [event.clientY - box.top, event.clientX - box.left].map((d) =>
        Math.floor((d - margin) / cell),
      );
      return i >= 0 && j >= 0 && i < n && j < n ? [i, j] : null;
    }
    canvas.addEventListener("pointermove", (event) => {
      const p = find(event);
      if (p && String(p) !== String(at)) show(...p);
    });
    canvas.addEventListener("click", (event) => {
      const p = find(event);
      if (p) {
        show(...p);
        tenfold.choose(p[0]);
      }
    });
    canvas.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (step) {
        const from = at || [0, 0];
        show(...from.map((x, d) => Math.max(0, Math.min(n - 1, x + (at ? step[d] : 0)))));
        event.preventDefault();
      }
      if (event.key === "Enter" && at) tenfold.choose(at[0]);
    });
    readout.textContent = "Point at a cell, or use the arrow keys.";
    tenfold.onChoose(again);
    tenfold.draw(box, paint);
  });
})();
