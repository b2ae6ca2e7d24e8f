// Memberships of many nodes as stacked bars: one bar a node, side by side by main community.
tenfold.widget("memberships", (node, data) => {
  const { el } = tenfold;
  const HIGH = 170,
    BELOW = 18; // room for the numbers of the communities
  const nodes = tenfold.nodes,
    count = data.nodes.length,
    k = data.borders.length - 1;
  const canvas = el("canvas", {
    tabindex: 0,
    role: "img",
    "aria-label": `Memberships of ${count} nodes as stacked bars. Arrow keys go from node to node, Enter chooses its main community.`,
  });
  const readout = el("p", { class: "readout", role: "status" }, "Point at a bar, or use the arrow keys.");
  const box = el("div", { class: "heat" }, canvas);
  node.append(el("div", { class: "panel" }, box, readout, el("p", { class: "note" }, data.caption)));
  let wide = 1,
    at = null;

  function paint(width) {
    const ratio = devicePixelRatio || 1;
    wide = width;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round((HIGH + BELOW) * ratio);
    canvas.style.width = width + "px";
    canvas.style.height = HIGH + BELOW + "px";
    const c = canvas.getContext("2d"),
      chosen = tenfold.chosen;
    c.scale(ratio, ratio);
    c.fillStyle = tenfold.colour("--soft");
    c.fillRect(0, 0, width, HIGH);
    // Where there are more nodes than points of the screen, some bars are left out, evenly.
    const bars = Math.min(count, Math.floor(width * ratio)),
      slot = width / bars;
    for (let i = 0; i < bars; i++) {
      let y = HIGH;
      const left = Math.round(i * slot * ratio) / ratio,
        right = Math.round((i + 1) * slot * ratio) / ratio,
        gap = slot > 6 ? 1 : 0;
      for (const [community, share] of nodes.mixes[data.nodes[Math.floor((i * count) / bars)]]) {
        c.globalAlpha = chosen === null || community === chosen ? 1 : 0.22;
        c.fillStyle = tenfold.tone(community);
        c.fillRect(left, y - share * HIGH, right - left - gap, share * HIGH);
        y -= share * HIGH;
      }
    }
    c.globalAlpha = 1;
    names(c);
    if (at !== null) {
      c.strokeStyle = tenfold.colour("--ink");
      c.lineWidth = 2;
      const w = Math.max(3, width / count);
      c.strokeRect(Math.max(1, Math.min(width - w - 1, ((at + 0.5) * width) / count - w / 2)), 1, w, HIGH - 2);
    }
  }
  function names(c) {
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    c.textAlign = "center";
    c.strokeStyle = tenfold.colour("--surface");
    c.lineWidth = 1;
    let last = -99;
    for (let i = 0; i < k; i++) {
      const [from, to] = [data.borders[i], data.borders[i + 1]].map((b) => (b / count) * wide),
        middle = (from + to) / 2,
        half = 2 + 3.5 * String(i).length;
      if (from === to) continue;
      if (i > 0 && to - from > 4) {
        c.beginPath();
        c.moveTo(from, 0);
        c.lineTo(from, HIGH);
        c.stroke();
      }
      if (middle - half < last || middle + half > wide) continue;
      last = middle + half;
      c.fillStyle = tenfold.colour(i === tenfold.chosen ? "--ink" : "--muted");
      c.fillText(i, Math.max(half, middle), HIGH + BELOW / 2 + 1);
    }
  }
  const again = () => {
    const width = Math.floor(box.clientWidth);
    if (width) paint(width);
  };
  function show(i) {
    at = i;
    const place = data.nodes[i];
    readout.replaceChildren(tenfold.word(nodes.ids[place]), ` · ${nodes.told(place).join(" · ")}`);
    again();
  }
  const find = (event) => {
    const b = canvas.getBoundingClientRect();
    return Math.max(0, Math.min(count - 1, Math.floor(((event.clientX - b.left) / wide) * count)));
  };
  const choose = () => tenfold.choose(data.borders.findIndex((b) => b > at) - 1);
  canvas.addEventListener("pointermove", (event) => {
    if (find(event) !== at) show(find(event));
  });
  canvas.addEventListener("click", (event) => {
    show(find(event));
    choose();
  });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -count, End: count }[event.key];
    if (step) {
      show(at === null ? (step === count ? count - 1 : 0) : Math.max(0, Math.min(count - 1, at + step)));
      event.preventDefault();
    }
    if (event.key === "Enter" && at !== null) choose();
  });
  tenfold.onChoose(again);
  tenfold.draw(box, paint);
});
