// The adjacency matrix with nodes in the order of their communities: blocks on the diagonal are communities.
tenfold.widget("adjacency", (node, data) => {
  const { el, percent } = tenfold;
  const count = (x) => Math.round(x).toLocaleString("en");
  const bytes = Uint8Array.from(atob(data.levels), (c) => c.charCodeAt(0));
  const [rows, cols] = data.shape;
  const canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": "Adjacency matrix by communities" });
  const readout = el("p", { class: "readout", role: "status" }, "Point at a block, or use the arrow keys.");
  const box = el("div", { class: "heat" }, canvas);
  node.append(el("div", { class: "panel" }, box, readout, el("p", { class: "note" }, data.caption)));
  const k = data.rows.length - 1;
  let margin = 22,
    wide = 1,
    high = 1,
    at = null;

  // Where a community begins, in cells of the picture.
  const edge = (borders, c, cells) => (borders[c] / Math.max(1, borders[k])) * cells;
  const where = (borders, part) => {
    const c = borders.findIndex((b) => b > part * borders[k]) - 1;
    return c < 0 ? k - 1 : c;
  };

  // The cells without anything on them; painted again only when the page's colours change.
  let painted = null;
  function cells() {
    const colours = tenfold.colour("--zero") + tenfold.colour("--accent");
    if (painted && painted.colours === colours) return painted.own;
    const own = el("canvas", { width: cols, height: rows }),
      c = own.getContext("2d"),
      image = c.createImageData(cols, rows),
      shade = tenfold.between("--zero", "--accent");
    const tones = Array.from({ length: 256 }, (_, level) => shade(level / 255));
    for (let i = 0; i < bytes.length; i++) {
      const [r, g, b] = tones[bytes[i]];
      image.data[4 * i] = r;
      image.data[4 * i + 1] = g;
      image.data[4 * i + 2] = b;
      image.data[4 * i + 3] = 255;
    }
    c.putImageData(image, 0, 0);
    painted = { colours, own };
    return own;
  }

  function paint(width) {
    const ratio = devicePixelRatio || 1,
      most = Math.min(width - margin - 2, 560);
    wide = cols >= rows ? most : Math.max(120, (most * cols) / rows);
    high = cols >= rows ? Math.max(120, (most * rows) / cols) : most;
    canvas.width = Math.round((wide + margin + 2) * ratio);
    canvas.height = Math.round((high + margin + 2) * ratio);
    canvas.style.width = wide + margin + 2 + "px";
    canvas.style.height = high + margin + 2 + "px";
    const c = canvas.getContext("2d");
    c.scale(ratio, ratio);
    c.imageSmoothingEnabled = wide * ratio < cols;
    c.imageSmoothingQuality = "high";
    c.drawImage(cells(), margin, margin, wide, high);
    const x = (i) => margin + (edge(data.cols, i, cols) / cols) * wide,
      y = (i) => margin + (edge(data.rows, i, rows) / rows) * high;
    c.strokeStyle = tenfold.colour("--quiet");
    c.lineWidth = 0.75;
    c.globalAlpha = 0.8;
    // Where most lines would stand close together they would hide what they part.
    const few = Math.min(wide, high) / k > 9;
    for (let i = 0; i <= k; i++)
      if (few || i === 0 || i === k) {
        line(c, [x(i), margin, x(i), margin + high]);
        line(c, [margin, y(i), margin + wide, y(i)]);
      }
    c.globalAlpha = 1;
    c.fillStyle = tenfold.colour("--muted");
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    c.textAlign = "center";
    for (let i = 0, above = -99, before = -99; i < k; i++) {
      const half = 4 + 3.5 * String(i).length,
        [px, py] = [(x(i) + x(i + 1)) / 2, (y(i) + y(i + 1)) / 2];
      if (y(i + 1) > y(i) && py - above > 13) {
        c.fillText(i, margin / 2, py);
        above = py;
      }
      if (x(i + 1) > x(i) && px - half > before) {
        c.fillText(i, px, margin - 9);
        before = px + half;
      }
    }
    const frame = (i, j, name) => {
      c.strokeStyle = tenfold.colour(name);
      c.lineWidth = 2;
      c.strokeRect(x(j), y(i), Math.max(2, x(j + 1) - x(j)), Math.max(2, y(i + 1) - y(i)));
    };
    if (tenfold.chosen !== null && tenfold.chosen < k) frame(tenfold.chosen, tenfold.chosen, "--second");
    if (at) frame(at[0], at[1], "--ink");
  }
  function line(c, [x0, y0, x1, y1]) {
    c.beginPath();
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
    c.stroke();
  }
  const again = () => {
    const width = Math.floor(box.clientWidth);
    if (width) paint(width);
  };

  function show(i, j) {
    at = [i, j];
    const [r, c] = [data.rows[i + 1] - data.rows[i], data.cols[j + 1] - data.cols[j]];
    const own = data.undirected && i === j,
      entries = Math.max(i, j) < data.told ? data.blocks[i * data.told + j] : null,
      pairs = own ? r * (r - 1) : r * c;
    const [row, col] = data.sides;
    const block = `${count(r)} ${row} of community ${i}, ${own ? "among themselves" : `${count(c)} ${col} of community ${j}`}`;
    const edges = entries === null ? "" : `: ${count(own ? entries / 2 : entries)} edges`;
    readout.textContent = block + edges + (edges && pairs > 0 ? `, ${percent(entries / pairs)} of the pairs` : "");
    again();
  }
  const find = (event) => {
    const b = canvas.getBoundingClientRect(),
      px = (event.clientX - b.left - margin) / wide,
      py = (event.clientY - b.top - margin) / high;
    return px < 0 || py < 0 || px >= 1 || py >= 1 ? null : [where(data.rows, py), where(data.cols, px)];
  };
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
      show(...from.map((c, d) => Math.max(0, Math.min(k - 1, c + (at ? step[d] : 0)))));
      event.preventDefault();
    }
    if (event.key === "Enter" && at) tenfold.choose(at[0]);
  });
  tenfold.onChoose(again);
  tenfold.draw(box, paint);
});
