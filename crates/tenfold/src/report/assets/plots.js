// Lines, points and bars in SVG, with one cursor for pointer and keyboard.
(() => {
  const { el, svg, number, percent } = tenfold;
  const MARGIN = { top: 22, right: 14, bottom: 44, left: 58 };

  function ticks(low, high, count) {
    const step = (high - low) / Math.max(count, 1),
      power = 10 ** Math.floor(Math.log10(step));
    const nice = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= step * 0.999);
    const found = [];
    for (let i = Math.ceil(low / nice - 1e-9); i <= Math.floor(high / nice + 1e-9); i++)
      found.push(i * nice || 0); // never −0
    return found;
  }
  function logTicks(low, high) {
    const from = Math.ceil(Math.log10(low) - 1e-9),
      to = Math.floor(Math.log10(high) + 1e-9);
    if (to - from < 3) {
      // Few powers of ten: 2 and 5 between them help.
      const found = [];
      for (let e = from - 1; e <= to; e++)
        for (const m of [1, 2, 5]) if (m * 10 ** e >= low && m * 10 ** e <= high) found.push(m * 10 ** e);
      return found.length > 1 ? found : ticks(low, high, 4).filter((x) => x > 0);
    }
    const step = Math.ceil((to - from + 1) / 6),
      found = [];
    for (let e = from; e <= to; e += step) found.push(10 ** e);
    return found;
  }
  function scale(low, high, from, to, log) {
    const f = log ? Math.log : (x) => x;
    const span = f(high) - f(low) || 1;
    return (x) => from + ((f(x) - f(low)) / span) * (to - from);
  }
  // An axis says all its ticks with the same care: 1e-4 beside 0.001 would read badly.
  const sayTick = (plot, x) => (plot.percent ? +(100 * x).toPrecision(6) + " %" : number(x));

  function frame(plot, width, domain, below) {
    const height = Math.round(Math.min(320, Math.max(200, width * 0.42)));
    const inner = {
      left: MARGIN.left,
      right: width - MARGIN.right,
      top: MARGIN.top,
      bottom: height - MARGIN.bottom,
    };
    const x = scale(domain.x[0], domain.x[1], inner.left, inner.right);
    const y = scale(domain.y[0], domain.y[1], inner.bottom, inner.top, plot.log);
    const root = svg("svg", {
      class: "plot",
      viewBox: `0 0 ${width} ${height}`,
      height,
      tabindex: 0,
      role: "img",
      "aria-label": plot.caption,
    });
    for (const t of plot.log ? logTicks(...domain.y) : ticks(domain.y[0], domain.y[1], 4)) {
      root.append(svg("line", { class: "grid", x1: inner.left, x2: inner.right, y1: y(t), y2: y(t) }));
      root.append(svg("text", { x: inner.left - 8, y: y(t) + 4, "text-anchor": "end" }, sayTick(plot, t)));
    }
    if (plot.y)
      root.append(svg("text", { x: inner.left, y: 10 }, plot.y + (plot.log ? ", logarithmic" : "")));
    if (plot.x)
      root.append(
        svg("text", { x: (inner.left + inner.right) / 2, y: height - 6, "text-anchor": "middle" }, plot.x),
      );
    for (const [at, label] of below(x, inner)) {
      root.append(svg("text", { x: at, y: inner.bottom + 18, "text-anchor": "middle" }, label));
    }
    return { root, x, y, inner };
  }

  // One cursor over points {x, y, text, item}: the pointer finds the nearest, arrows step, Enter chooses.
  function cursor(root, points, item) {
    let at = -1;
    const ring = svg("circle", { class: "cursor", r: 6, visibility: "hidden" });
    root.append(ring);
    const show = (i) => {
      at = i;
      const p = points[i],
        box = root.getBoundingClientRect();
      ring.setAttribute("cx", p.x);
      ring.setAttribute("cy", p.y);
      ring.setAttribute("visibility", "visible");
      const zoom = box.width / root.viewBox.baseVal.width;
      tenfold.showTip(p.text, box.left + p.x * zoom, box.top + p.y * zoom);
    };
    const hide = () => {
      ring.setAttribute("visibility", "hidden");
      tenfold.hideTip();
    };
    const nearest = (event) => {
      const box = root.getBoundingClientRect(),
        zoom = root.viewBox.baseVal.width / box.width;
      const [px, py] = [(event.clientX - box.left) * zoom, (event.clientY - box.top) * zoom];
      let best = 0,
        least = Infinity;
      points.forEach((p, i) => {
        const d = (p.x - px) ** 2 + (item ? 0 : 0.05) * (p.y - py) ** 2;
        if (d < least) {
          least = d;
          best = i;
        }
      });
      return best;
    };
    if (!points.length) return;
    root.addEventListener("pointermove", (event) => show(nearest(event)));
    root.addEventListener("pointerleave", hide);
    root.addEventListener("blur", hide);
    root.addEventListener("click", (event) => {
      const p = points[nearest(event)];
      if (item) tenfold.choose(p.item);
    });
    root.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -points.length, End: points.length }[event.key];
      if (step) {
        show(Math.max(0, Math.min(points.length - 1, at + step)));
        event.preventDefault();
      }
      if (event.key === "Enter" && item && at >= 0) tenfold.choose(points[at].item);
    });
  }

  const usable = (plot) => (v, i, all) => v !== null && Number.isFinite(v) && (!plot.log || v > 0);
  function span(values, fromZero) {
    let low = Math.min(...values),
      high = Math.max(...values);
    if (fromZero) {
      low = Math.min(0, low);
      high = Math.max(0, high);
    }
    if (low === high) {
      low -= Math.abs(low) / 2 || 1;
      high += Math.abs(high) / 2 || 1;
    }
    return [low, high];
  }

  function lines(node, plot, width) {
    const series = plot.series.map((s) => ({
      name: s.name,
      at: s.x.map((x, i) => [x, s.y[i]]).filter((p) => usable(plot)(p[1])),
    }));
    const all = series.flatMap((s) => s.at);
    if (!all.length) return node.append(el("p", { class: "note" }, "Nothing to draw."));
    const xs = all
      .map((p) => p[0])
      .concat(plot.mark ? [plot.mark.x] : [], plot.band ? [plot.band.from, plot.band.to] : []);
    let y = span(all.map((p) => p[1]));
    if (plot.log) y = [y[0] / 1.15, y[1] * 1.15];
    else y = [y[0] - 0.06 * (y[1] - y[0]), y[1] + 0.06 * (y[1] - y[0])];
    const whole = xs.every(Number.isInteger);
    const f = frame(plot, width, { x: span(xs), y }, (sx, inner) =>
      ticks(...span(xs), Math.max(2, Math.floor((inner.right - inner.left) / 70)))
        .filter((t) => !whole || Number.isInteger(t))
        .map((t) => [sx(t), number(t)]),
    );
    if (plot.band) {
      const [from, to] = [f.x(plot.band.from), f.x(plot.band.to)];
      f.root.append(
        svg("rect", {
          class: "band",
          x: from,
          y: f.inner.top,
          width: Math.max(2, to - from),
          height: f.inner.bottom - f.inner.top,
        }),
      );
    }
    if (plot.mark) {
      const at = f.x(plot.mark.x),
        right = at < (f.inner.left + f.inner.right) / 2,
        wide = 7 * plot.mark.label.length + 14;
      // The word stands at the top, but for where it would stand on a line.
      const [from, to] = right ? [at, at + wide] : [at - wide, at];
      const near = all.map((p) => [f.x(p[0]), f.y(p[1])]).filter((p) => p[0] >= from && p[0] <= to);
      const gap = (y) => Math.min(...near.map((p) => Math.abs(p[1] - y + 4)), 16);
      const { top, bottom } = f.inner;
      const y = [top + 12, (top + bottom) / 2, bottom - 8].reduce((a, b) => (gap(b) > gap(a) ? b : a));
      f.root.append(svg("line", { class: "mark", x1: at, x2: at, y1: f.inner.top, y2: f.inner.bottom }));
      f.root.append(
        svg(
          "text",
          {
            class: "marked",
            x: at + (right ? 7 : -7),
            y,
            "text-anchor": right ? "start" : "end",
          },
          plot.mark.label,
        ),
      );
    }
    const points = [];
    series.forEach((s, i) => {
      const group = svg("g", { class: "s" + i });
      const path = s.at.map((p) => `${f.x(p[0]).toFixed(1)} ${f.y(p[1]).toFixed(1)}`);
      if (plot.kind === "lines") group.append(svg("path", { class: "line", d: "M" + path.join("L") }));
      if (plot.kind === "scatter" || s.at.length * 7 < width) {
        for (const p of s.at)
          group.append(svg("circle", { class: "dot", cx: f.x(p[0]), cy: f.y(p[1]), r: 3 }));
      }
      f.root.append(group);
      for (const p of s.at)
        points.push({
          x: f.x(p[0]),
          y: f.y(p[1]),
          text: `${s.name ? s.name + "\n" : ""}${plot.x || "x"} ${number(p[0])}: ${sayTick(plot, +p[1].toPrecision(4))}`,
        });
    });
    if (series.length > 1) {
      node.append(
        el(
          "div",
          { class: "legend" },
          series.map((s, i) => el("span", null, el("i", { class: "s" + i }), s.name)),
        ),
      );
    }
    cursor(
      f.root,
      points.sort((a, b) => a.x - b.x),
      false,
    );
    node.append(f.root);
  }

  function bars(node, plot, width) {
    const n = plot.values.length,
      values = plot.values.map((v) => v || 0);
    const f = frame(
      plot,
      width,
      { x: [0, Math.max(n, 1)], y: span(values.length ? values : [0], true) },
      (sx, inner) => {
        // Long names are cut, and only as many are written as fit beside each other.
        const short = plot.labels.map((label) => (label.length > 12 ? label.slice(0, 11) + "…" : label));
        const wide = 12 + 7 * Math.max(...short.map((label) => label.length), 2);
        const every = Math.max(1, Math.ceil((n * wide) / (inner.right - inner.left)));
        return short.map((label, i) => [sx(i + 0.5), label]).filter((_, i) => i % every === 0);
      },
    );
    const slot = f.x(1) - f.x(0),
      points = [];
    values.forEach((v, i) => {
      const [top, bottom] = [f.y(Math.max(v, 0)), f.y(Math.min(v, 0))];
      f.root.append(
        svg("rect", {
          class: plot.items ? "column item" + (tenfold.chosen === i ? " chosen" : "") : "column",
          "data-item": plot.items ? i : null,
          x: f.x(i) + slot * 0.12,
          width: Math.max(slot * 0.76, 0.6),
          y: top,
          height: Math.max(bottom - top, 0.5),
          rx: Math.min(3, slot * 0.2),
        }),
      );
      points.push({
        x: f.x(i + 0.5),
        y: f.y(v),
        item: i,
        text: `${plot.x || ""} ${plot.labels[i]}: ${plot.percent ? percent(v) : number(v)}`.trim(),
      });
    });
    cursor(f.root, points, plot.items);
    node.append(f.root);
  }

  // The numbers behind a picture, for those who cannot see it or want to take them away.
  function numbers(plot) {
    const rows = plot.series
      ? plot.series.flatMap((s) => s.x.map((x, i) => [s.name, number(x), number(s.y[i])]))
      : plot.labels.map((label, i) => [
          "",
          label,
          plot.percent ? percent(plot.values[i]) : number(plot.values[i]),
        ]);
    const named = rows.some((r) => r[0]);
    const cells = (tag, row) => row.slice(named ? 0 : 1).map((c) => el(tag, null, c));
    const details = el(
      "details",
      {
        toggle: () => {
          if (!details.open || details.childElementCount > 1) return;
          details.append(
            el(
              "div",
              { class: "table", tabindex: 0 },
              el(
                "table",
                null,
                el(
                  "tbody",
                  null,
                  el("tr", null, cells("th", ["series", plot.x || "x", plot.y || "value"])),
                  rows.map((row) => el("tr", null, cells("td", row))),
                ),
              ),
            ),
          );
        },
      },
      el("summary", null, "Numbers"),
    );
    return details;
  }

  tenfold.widget("plot", (node, plot) => {
    if (plot.kind === "heatmap") return tenfold.mount("heatmap")(node, plot);
    const box = el("div");
    node.append(box, numbers(plot));
    tenfold.draw(box, (width) => {
      box.replaceChildren();
      (plot.kind === "bars" ? bars : lines)(box, plot, width);
    });
  });
})();
