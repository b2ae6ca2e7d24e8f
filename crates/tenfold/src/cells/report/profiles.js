// Profiles of types ("profiles"): a row for each gene, a column for each type.
(() => {
  const { el, svg, number, percent } = tenfold;
  const ROW = 18; // pixels: a name can be read

  tenfold.widget("profiles", (node, data) => {
    const box = el("div", { class: "profiles" });
    const readout = el("p", { class: "readout", role: "status" });
    node.append(box, readout);
    const about = (g, t) =>
      `${data.genes[g]}: type ${t} has ${percent(data.shares[g][t])} of its cells; ` +
      `${number(data.lifts[g][t])} times as frequent in its profile as on average`;

    function paint(width) {
      box.replaceChildren();
      const names = Math.min(150, Math.max(70, width * 0.22)),
        side = Math.max(14, Math.min(70, (width - names - 4) / data.types));
      const height = ROW * data.genes.length + 24;
      const root = svg("svg", { width: Math.max(width, names + side * data.types), height, role: "img", "aria-label": data.caption });
      for (let t = 0; t < data.types; t++)
        root.append(svg("text", { x: names + side * (t + 0.5), y: 14, "text-anchor": "middle", class: "tick", "data-item": t }, String(t)));
      data.genes.forEach((gene, g) => {
        const y = 22 + ROW * g;
        const label = svg("text", { x: names - 6, y: y + 13, "text-anchor": "end", class: "tick" }, gene.length > 18 ? gene.slice(0, 17) + "…" : gene);
        root.append(label);
        for (let t = 0; t < data.types; t++) {
          const cell = svg("rect", {
            x: names + side * t,
            y,
            width: side - 1,
            height: ROW - 1,
            "data-item": t,
            class: "profile",
            fill: tenfold.tone(t),
            "fill-opacity": (0.06 + 0.94 * Math.sqrt(data.shares[g][t])).toFixed(3),
          });
          cell.addEventListener("pointerenter", (event) => {
            readout.textContent = about(g, t);
            if (event.pointerType === "mouse") tenfold.showTip(about(g, t), event.clientX, event.clientY);
          });
          cell.addEventListener("pointerleave", tenfold.hideTip);
          root.append(cell);
        }
      });
      box.append(root);
    }
    tenfold.draw(box, paint);
  });
})();
