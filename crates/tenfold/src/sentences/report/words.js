// The map of words: frequent words near words that stand among the same others; one is chosen, its neighbours told.
(() => {
  const { el, svg, word, number, percent } = tenfold;

  // Places labels from the most frequent word on; one that would cover another is a dot, until it is chosen.
  function arrange(words, width, height) {
    const xs = words.map((w) => w.x),
      ys = words.map((w) => w.y);
    const [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const pad = 40,
      taken = [];
    return words.map((w, id) => {
      const x = pad + ((w.x - x0) / (x1 - x0 || 1)) * (width - 2 * pad),
        y = height - 16 - ((w.y - y0) / (y1 - y0 || 1)) * (height - 32);
      const half = 3.4 * Math.min(w.word.length, 24) + 3,
        box = { l: x - half, r: x + half, t: y - 9, b: y + 5 };
      const free =
        box.l > 0 &&
        box.r < width &&
        taken.every((o) => box.r < o.l || box.l > o.r || box.b < o.t || box.t > o.b);
      if (free) taken.push(box);
      return { id, x, y, free };
    });
  }

  tenfold.widget("words", (node, data) => {
    const field = el("div", { class: "word-field" }),
      told = el("div", { class: "word-told", role: "status" });
    const list = el("datalist", { id: "word-list" }, ...data.map((w) => el("option", { value: w.word })));
    const search = el("input", { type: "search", list: "word-list", placeholder: "a word", "aria-label": "Search a word" });
    let marks = [],
      chosen = 0;
    const show = (id) => {
      chosen = id;
      const w = data[id];
      const near = w.near.map(([other, cosine]) =>
        el("li", null, word(other), el("span", { class: "number" }, number(cosine))),
      );
      told.replaceChildren(
        el("h3", null, word(w.word)),
        el("p", null, percent(w.share) + " of all words"),
        el("ol", null, ...near),
      );
      marks.forEach((mark, i) => mark.classList.toggle("chosen", i === id));
    };
    search.addEventListener("input", () => {
      const at = data.findIndex((w) => w.word === search.value.trim());
      if (at >= 0) show(at);
    });
    node.append(el("div", { class: "word-map" }, field, el("div", { class: "word-side" }, search, list, told)));
    tenfold.draw(field, (width) => {
      const height = Math.round(Math.max(320, Math.min(520, width * 0.7)));
      const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, height, class: "plot", role: "group", "aria-label": "Words" });
      marks = arrange(data, width, height).map(({ id, x, y, free }) => {
        const pick = { click: () => show(id), tabindex: free ? 0 : null, role: "button", "aria-label": data[id].word };
        const keys = { keydown: (event) => event.key === "Enter" && show(id) };
        return svg(
          "g",
          { class: free ? "free" : "hidden-word", ...pick, ...keys },
          svg("circle", { cx: x, cy: y, r: 2 }),
          svg("text", { x, y: y - 4, "text-anchor": "middle" }, data[id].word.slice(0, 24)),
        );
      });
      root.append(...marks);
      field.replaceChildren(root);
      show(chosen);
    });
  });
})();
