// Motifs on a page: where they fire on a stretch of signal ("trace"), the raster of firings ("raster"), and motifs of images
// ("patch").
(() => {
  const { el, svg, number } = tenfold;
  // As many tones as motifs, evenly around the circle, dark or light enough for both themes.
  const tone = (motif, count) => `hsl(${Math.round((360 * motif) / Math.max(1, count) + 200) % 360} 62% 46%)`;

  function path(values, x, y) {
    let text = "";
    for (let i = 0; i < values.length; i++) text += (i ? "L" : "M") + x(i).toFixed(1) + " " + y(values[i]).toFixed(1);
    return text;
  }

  tenfold.widget("trace", (node, data) => {
    const box = el("div", { class: "trace" });
    const readout = el("p", { class: "readout", role: "status" });
    const range = el("input", { type: "range", min: 0, max: 1000, value: 0, "aria-label": "Where the view begins" });
    const zoom = el("select", { "aria-label": "Samples in view" });
    const length = data.signal[0].length;
    const widths = [100, 200, 500, 1000, 2000].filter((n) => n < length).concat(length);
    for (const n of widths) zoom.append(el("option", { value: n }, `${number(n)} samples`));
    zoom.value = widths.find((n) => n >= 500) || length;
    node.append(el("div", { class: "controls" }, zoom, range), box, readout);
    const unit = data.rate ? " s" : "";
    const time = (sample) => number(data.rate ? sample / data.rate : sample) + unit;

    function paint(width) {
      box.replaceChildren();
      const shown = Math.min(length, Number(zoom.value));
      const first = Math.round(((length - shown) * Number(range.value)) / 1000);
      range.disabled = shown >= length;
      const left = 8,
        tall = 130,
        lanes = 12 * data.motifs + 8,
        height = tall * data.signal.length + lanes + 26;
      const x = (i) => left + ((width - 2 * left) * i) / Math.max(1, shown - 1);
      const root = svg("svg", { width, height, role: "img", "aria-label": data.caption });
      data.signal.forEach((signal, channel) => {
        const own = signal.slice(first, first + shown),
          rebuilt = data.rebuilt[channel].slice(first, first + shown);
        const all = own.concat(rebuilt),
          low = Math.min(...all),
          high = Math.max(...all);
        const y = (v) => tall * channel + 8 + ((high - v) / (high - low || 1)) * (tall - 16);
        root.append(svg("path", { class: "signal", d: path(own, x, y) }), svg("path", { class: "rebuilt", d: path(rebuilt, x, y) }));
        if (data.signal.length > 1)
          root.append(svg("text", { x: left, y: tall * channel + 14, class: "channel" }, data.channels[channel]));
      });
      const base = tall * data.signal.length;
      for (const [start, motif, amplitude] of data.events) {
        const from = start - data.begin - first,
          to = from + data.length - 1;
        if (to < 0 || from > shown - 1) continue;
        const a = x(Math.max(0, from)),
          b = x(Math.min(shown - 1, to));
        const mark = svg("rect", {
          x: a,
          y: base + 4 + 12 * motif,
          width: Math.max(2, b - a),
          height: 9,
          rx: 2,
          fill: tone(motif, data.motifs),
        });
        const words = `motif ${motif} at ${time(start)}, amplitude ${number(amplitude)}`;
        mark.append(svg("title", null, words));
        mark.addEventListener("pointerenter", () => (readout.textContent = words));
        root.append(mark);
      }
      const y = height - 6;
      for (let i = 0; i <= 4; i++) {
        const at = (i * (shown - 1)) / 4;
        const anchor = i === 0 ? "start" : i === 4 ? "end" : "middle";
        root.append(svg("text", { x: x(at), y, "text-anchor": anchor, class: "tick" }, time(data.begin + first + Math.round(at))));
      }
      box.append(root);
    }
    const again = () => paint(Math.floor(box.clientWidth));
    range.addEventListener("input", again);
    zoom.addEventListener("change", again);
    tenfold.draw(box, paint);
  });

  tenfold.widget("raster", (node, data) => {
    const box = el("div", { class: "trace" });
    node.append(box);
    const row = 18;
    tenfold.draw(box, (width) => {
      box.replaceChildren();
      const ratio = devicePixelRatio || 1,
        height = row * data.motifs + 24,
        left = 28;
      const canvas = el("canvas", { role: "img", "aria-label": data.caption });
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = width + "px";
      canvas.style.height = height + "px";
      const c = canvas.getContext("2d");
      c.scale(ratio, ratio);
      c.font = "11px system-ui, sans-serif";
      c.textBaseline = "middle";
      for (let motif = 0; motif < data.motifs; motif++) {
        c.fillStyle = tenfold.colour("--muted");
        c.fillText(String(motif), 4, row * motif + row / 2);
        c.fillStyle = tenfold.colour("--soft");
        c.fillRect(left, row * motif + row - 1, width - left, 1);
      }
      for (const [start, motif, amplitude] of data.events) {
        c.fillStyle = tone(motif, data.motifs);
        c.globalAlpha = 0.25 + 0.75 * Math.min(1, Math.abs(amplitude) / (data.loud || 1));
        c.fillRect(left + ((width - left - 2) * start) / Math.max(1, data.samples), row * motif + 2, 1.5, row - 5);
      }
      c.globalAlpha = 1;
      c.fillStyle = tenfold.colour("--muted");
      const end = number(data.rate ? data.samples / data.rate : data.samples) + (data.rate ? " s" : "");
      c.fillText("0", left, height - 8);
      c.textAlign = "right";
      c.fillText(end, width - 2, height - 8);
      box.append(canvas);
    });
  });

  tenfold.widget("patch", (node, data) => {
    const canvas = el("canvas", { role: "img", "aria-label": data.caption, class: "patch" });
    node.append(canvas, el("p", { class: "caption" }, data.caption));
    tenfold.draw(node, (width) => {
      const cell = Math.max(2, Math.min(data.cell || 16, Math.floor(width / data.columns)));
      canvas.width = cell * data.columns;
      canvas.height = cell * data.rows;
      const c = canvas.getContext("2d");
      const up = tenfold.between("--zero", "--hot"),
        down = tenfold.between("--zero", "--cold");
      const full = data.values.reduce((m, v) => Math.max(m, Math.abs(v)), 1e-300);
      data.values.forEach((v, i) => {
        c.fillStyle = `rgb(${(v < 0 ? down : up)(Math.abs(v) / full).join()})`;
        c.fillRect(cell * (i % data.columns), cell * Math.floor(i / data.columns), cell, cell);
      });
    });
  });
})();
