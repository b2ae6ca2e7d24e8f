// What is told about a node: in a line under the pointer, and in full beside the tree.
(() => {
  const { el, word, number } = tenfold;
  const LINES = 7; // rows of a table that fit under the pointer

  tenfold.details = (data, tree) => {
    const kinds = { category: "category", flags: "flags", counts: "counts", real: "real number" };
    const stateNames = (node) =>
      node.hidden || !node.states || node.emission
        ? (node.states || []).map((_, s) => `state ${s}`)
        : node.labels.slice(0, node.states.length);
    const what = (node) =>
      node.hidden
        ? `hidden, ${node.states.length} states, ${node.size} variables below`
        : kinds[node.kind] + (node.children.length ? ", inside the tree" : "");
    const say = (node, x) =>
      node.kind === "real" && !node.hidden ? number(x) : x === null ? "–" : percent(x);
    const percent = (x) => (x === null ? "–" : Math.round(1000 * x) / 10 + " %");
    // Rows and columns of the node's own table: labels by the states of what it shows, or states by those above.
    function table(node) {
      if (node.emission)
        return {
          rows: node.labels.length === 1 && node.labels[0] === node.name ? ["mean"] : node.labels,
          columns: stateNames({ ...tree.nodes[node.shows], emission: node.shows === node.id || undefined }),
          of: tree.nodes[node.shows].name,
          values: node.emission,
        };
      if (node.table)
        return {
          rows: stateNames(node),
          columns: stateNames(tree.nodes[node.parent]),
          of: tree.nodes[node.parent].name,
          values: node.table,
        };
      return null;
    }
    function edgeWords(node) {
      const edge = node.edge;
      if (!edge) return "";
      let text = `length ${number(edge.length)}`;
      if (edge.error !== null) text += ` ± ${number(edge.error)}`;
      text += ` · strength ${percent(edge.strength)}`;
      if (edge.support !== null) text += ` · support ${percent(edge.support)}`;
      return text;
    }

    const tip = (node) => {
      const lines = [node.name, what(node), edgeWords(node)];
      const t = table(node);
      if (t) {
        lines.push(`by ${t.of}: ${t.columns.join(" / ")}`);
        t.values
          .slice(0, LINES)
          .forEach((row, i) => lines.push(`${t.rows[i]}: ${row.map((x) => say(node, x)).join(" / ")}`));
        if (t.values.length > LINES) lines.push(`and ${t.values.length - LINES} more`);
      }
      return lines.filter((line) => line).join("\n");
    };

    function grid(node) {
      const t = table(node);
      if (!t) return [];
      const shaded = node.hidden || node.kind !== "real";
      const cell = (x) => {
        const td = el("td", { class: "number" + (shaded ? " shade" : "") }, say(node, x));
        if (shaded) td.style.setProperty("--p", x || 0);
        return td;
      };
      const head = el(
        "tr",
        null,
        el("th", null, ""),
        t.columns.map((name) => el("th", { scope: "col" }, word(name))),
      );
      const rows = t.values.map((row, i) =>
        el("tr", null, el("th", { scope: "row" }, word(t.rows[i])), row.map(cell)),
      );
      const title = node.emission
        ? ["What every state of ", word(t.of), node.kind === "real" ? " shows, on average" : " shows"]
        : ["State, given that of ", word(t.of)];
      return [
        el("p", { class: "quiet" }, title),
        el(
          "div",
          { class: "table grid-table", tabindex: 0, role: "region", "aria-label": "Table of the edge" },
          el("table", null, el("thead", null, head), el("tbody", null, rows)),
        ),
        node.more ? el("p", { class: "quiet" }, `and ${node.more} more`) : null,
      ];
    }
    function states(node) {
      if (!node.hidden) return [];
      const line = (told) =>
        el(
          "li",
          null,
          el("button", { type: "button", class: "chip", "data-pick": told[0] }, word(told[1])),
          el(
            "span",
            { class: "number" },
            told[4] ? number(told[2]) : percent(told[2]),
            el("small", null, ` of all ${told[4] ? number(told[3]) : percent(told[3])}`),
          ),
        );
      return node.states.flatMap((share, s) => [
        el("h4", null, `State ${s}: ${percent(share)} of samples`),
        node.telling[s].length
          ? el("ul", { class: "docs" }, node.telling[s].map(line))
          : el("p", { class: "quiet" }, "Nothing stands out."),
      ]);
    }
    function overall(node) {
      if (node.hidden || node.kind === "real" || node.children.length || node.labels.length > 12) return [];
      return [
        el("p", { class: "quiet" }, "In all samples"),
        ...node.labels.map((label, i) => {
          const bar = el("i", { class: "fillbar" });
          bar.style.width = 100 * (node.overall[i] || 0) + "%";
          if (node.group !== null) bar.style.background = tenfold.groupTone(node.group);
          return el(
            "div",
            { class: "use" },
            word(label),
            el("span", { class: "track" }, bar),
            el("span", { class: "number" }, percent(node.overall[i])),
          );
        }),
      ];
    }
    const panel = (node) => {
      const facts = [["kind", what(node)]];
      if (node.edge) {
        const above = tree.nodes[node.parent];
        const chip = el("button", { type: "button", class: "chip", "data-pick": above.id }, word(above.name));
        facts.push(
          ["hangs on", chip],
          [
            "length",
            number(node.edge.length) + (node.edge.error === null ? "" : ` ± ${number(node.edge.error)}`),
          ],
        );
        facts.push(["strength", percent(node.edge.strength)]);
        if (node.edge.support !== null) facts.push(["support", percent(node.edge.support)]);
      }
      const group =
        node.group === null || !tenfold.grouped(node.group)
          ? null
          : el(
              "button",
              { type: "button", class: "chip", "data-item": node.group },
              tenfold.swatch(node.group),
              `Group ${node.group}`,
            );
      return [
        el("h3", null, word(node.name)),
        group ? el("p", null, group) : null,
        el(
          "dl",
          { class: "facts" },
          facts.map(([name, text]) => el("div", null, el("dt", null, name), el("dd", null, text))),
        ),
        ...overall(node),
        ...grid(node),
        ...states(node),
      ].filter((part) => part);
    };
    return { tip, panel };
  };
})();
