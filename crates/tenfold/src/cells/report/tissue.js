// Cells on their image ("tissue"): drawn as ellipses in the colours of their types, to enlarge and move.
(() => {
  const { el, number, percent } = tenfold;
  const CLOSEST = 40; // screen pixels for a pixel of the image: nothing more is to be seen
  const STEP = 1.5; // one press of a button or key
  const REACH = 6; // pixels around a small cell that still mean it

  tenfold.widget("tissue", (node, data) => {
    const canvas = el("canvas", {
      tabindex: 0,
      role: "img",
      "aria-label": "Cells of an image. Arrow keys move it, plus and minus enlarge and shrink it, 0 shows it all",
    });
    const choice = el(
      "select",
      { "aria-label": "Image" },
      data.images.map((one, i) => el("option", { value: i }, `${one.gene} · ${one.image} · ${number(one.x.length)} cells`)),
    );
    const button = (words, label, press) => el("button", { type: "button", "aria-label": label, click: press }, words);
    const tick = (words, change) => {
      const box = el("input", { type: "checkbox", checked: true, change });
      return [box, el("label", { class: "toggle" }, box, " " + words)];
    };
    const [shape, shapeLabel] = tick("cells", () => paint());
    const [ground, groundLabel] = tick("image", () => paint());
    const readout = el("p", { class: "readout", role: "status" });
    const box = el("div", { class: "tissue" }, canvas);
    const legend = el("div", { class: "legend" });
    node.append(
      el(
        "div",
        { class: "controls" },
        choice,
        button("+", "Enlarge", () => zoom(STEP)),
        button("−", "Shrink", () => zoom(1 / STEP)),
        button("All", "Show the whole image", () => whole()),
        shapeLabel,
        groundLabel,
      ),
      box,
      legend,
      readout,
    );
    for (let t = 0; t < data.types; t++)
      legend.append(
        el(
          "button",
          { type: "button", "data-item": t, "aria-pressed": false },
          el("span", { class: "swatch" }),
          `type ${t}`,
        ),
      );
    legend.querySelectorAll(".swatch").forEach((swatch, t) => (swatch.style.background = tenfold.tone(t)));

    let one = null,
      picture = null,
      grid = null,
      width = 0,
      height = 0,
      view = { x: 0, y: 0, scale: 1 };

    // Cells by squares of the image, so that the one under the pointer is found without asking all of them.
    function sorted(cells) {
      const side = 32,
        squares = new Map();
      for (let i = 0; i < cells.x.length; i++) {
        const key = Math.floor(cells.x[i] / side) + "," + Math.floor(cells.y[i] / side);
        if (!squares.has(key)) squares.set(key, []);
        squares.get(key).push(i);
      }
      return { side, squares };
    }
    function load() {
      one = data.images[Number(choice.value)];
      grid = sorted(one);
      picture = null;
      groundLabel.hidden = !one.png;
      if (one.png) {
        const loading = new Image();
        loading.addEventListener("load", () => {
          picture = loading;
          paint();
        });
        loading.src = one.png;
      }
      readout.textContent = "";
      whole();
    }
    function whole() {
      const scale = Math.min(width / one.width, height / one.height);
      view = { scale, x: (width - one.width * scale) / 2, y: (height - one.height * scale) / 2 };
      paint();
    }
    const smallest = () => Math.min(width / one.width, height / one.height);
    // The image never leaves the canvas: at least half of it or of the canvas stays covered.
    function settle() {
      const hold = (at, size, room) => Math.min(Math.max(at, Math.min(0, room - size) - room / 2), Math.max(0, room - size) + room / 2);
      view.x = hold(view.x, one.width * view.scale, width);
      view.y = hold(view.y, one.height * view.scale, height);
    }
    function zoom(by, x = width / 2, y = height / 2) {
      const scale = Math.min(CLOSEST, Math.max(smallest() * 0.8, view.scale * by));
      view.x = x - ((x - view.x) * scale) / view.scale;
      view.y = y - ((y - view.y) * scale) / view.scale;
      view.scale = scale;
      settle();
      paint();
    }
    function move(dx, dy) {
      view.x += dx;
      view.y += dy;
      settle();
      paint();
    }

    function paint() {
      if (!one || width === 0) return;
      const ratio = devicePixelRatio || 1,
        pen = canvas.getContext("2d");
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.fillStyle = tenfold.colour("--soft");
      pen.fillRect(0, 0, width, height);
      const { x, y, scale } = view;
      pen.fillStyle = tenfold.colour("--surface");
      pen.fillRect(x, y, one.width * scale, one.height * scale);
      if (picture && ground.checked) {
        pen.imageSmoothingEnabled = (one.width * scale) / picture.naturalWidth < 3;
        pen.drawImage(picture, x, y, one.width * scale, one.height * scale);
      }
      if (shape.checked) cells(pen);
    }
    function cells(pen) {
      const { x, y, scale } = view,
        over = picture && ground.checked;
      for (let i = 0; i < one.x.length; i++) {
        // Pixels are counted by their centres: the first one reaches from -1/2 to 1/2.
        const cx = x + (one.x[i] + 0.5) * scale,
          cy = y + (one.y[i] + 0.5) * scale,
          r1 = Math.max(1, one.r1[i] * scale),
          r2 = Math.max(1, one.r2[i] * scale);
        if (cx + r1 < 0 || cy + r1 < 0 || cx - r1 > width || cy - r1 > height) continue;
        const type = one.type[i],
          out = tenfold.chosen !== null && type !== tenfold.chosen;
        pen.beginPath();
        pen.ellipse(cx, cy, r1, r2, one.orientation[i], 0, 2 * Math.PI);
        pen.globalAlpha = out ? 0.12 : 1;
        pen.strokeStyle = pen.fillStyle = tenfold.tone(type);
        pen.lineWidth = over ? 1.8 : 1.2;
        pen.stroke();
        pen.globalAlpha = (out ? 0.05 : 1) * (over ? 0.15 : 0.25 + 0.5 * one.share[i]);
        pen.fill();
      }
      pen.globalAlpha = 1;
    }

    // The cell under a point of the canvas, or none.
    function under(px, py) {
      const at = { x: (px - view.x) / view.scale - 0.5, y: (py - view.y) / view.scale - 0.5 };
      let best = null,
        least = Infinity;
      const reach = Math.max(32, REACH / view.scale);
      for (let gx = Math.floor((at.x - reach) / grid.side); gx <= Math.floor((at.x + reach) / grid.side); gx++)
        for (let gy = Math.floor((at.y - reach) / grid.side); gy <= Math.floor((at.y + reach) / grid.side); gy++)
          for (const i of grid.squares.get(gx + "," + gy) || []) {
            const d = Math.hypot(one.x[i] - at.x, one.y[i] - at.y);
            if (d < least && d <= Math.max(one.r1[i], REACH / view.scale)) {
              best = i;
              least = d;
            }
          }
      return best;
    }
    const words = (i) =>
      `type ${one.type[i]} (${percent(one.share[i])}); radii ${number(one.r1[i])} and ${number(one.r2[i])} px, ` +
      `intensity ${number(one.intensity[i])}`;
    const spot = (event) => {
      const frame = canvas.getBoundingClientRect();
      return [event.clientX - frame.left, event.clientY - frame.top];
    };

    canvas.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        zoom(Math.exp(-event.deltaY / 400), ...spot(event));
      },
      { passive: false },
    );
    let held = null;
    canvas.addEventListener("pointerdown", (event) => {
      held = { x: event.clientX, y: event.clientY, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!held) {
        const i = under(...spot(event));
        if (i === null) tenfold.hideTip();
        else tenfold.showTip(words(i), event.clientX, event.clientY);
        return;
      }
      const dx = event.clientX - held.x,
        dy = event.clientY - held.y;
      if (!held.moved && Math.hypot(dx, dy) < 4) return;
      tenfold.hideTip();
      held = { x: event.clientX, y: event.clientY, moved: true };
      move(dx, dy);
    });
    canvas.addEventListener("pointerup", (event) => {
      const i = held && !held.moved ? under(...spot(event)) : null;
      held = null;
      if (i === null) return;
      readout.textContent = words(i);
      tenfold.choose(one.type[i]);
    });
    canvas.addEventListener("pointercancel", () => (held = null));
    canvas.addEventListener("pointerleave", tenfold.hideTip);
    canvas.addEventListener("keydown", (event) => {
      const keys = {
        "+": () => zoom(STEP),
        "=": () => zoom(STEP),
        "-": () => zoom(1 / STEP),
        0: () => whole(),
        ArrowLeft: () => move(40, 0),
        ArrowRight: () => move(-40, 0),
        ArrowUp: () => move(0, 40),
        ArrowDown: () => move(0, -40),
      };
      if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      keys[event.key]();
    });
    choice.addEventListener("change", load);
    tenfold.onChoose(() => paint());
    tenfold.draw(box, (now) => {
      const first = width === 0;
      width = now;
      height = Math.round(Math.min(now * 0.72, 620));
      canvas.style.width = width + "px";
      canvas.style.height = height + "px";
      if (first) load();
      else {
        settle();
        paint();
      }
    });
  });
})();
