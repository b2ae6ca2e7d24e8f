// The chosen community and the picked node beside the network.
tenfold.widget("communities", (node, data) => {
  const { el, word, number, percent } = tenfold;
  const nodes = tenfold.graphNodes(data),
    k = data.communities.length;
  tenfold.nodes = nodes; // for the pictures further down
  const dot = (c) => {
    const mark = el("i", { class: "tone" });
    mark.style.background = tenfold.tone(c);
    return mark;
  };
  const complete = data.ids.length >= data.nodes;
  const both =
    data.lefts !== null ? null : data.roles.length > 1 ? ["As source of edges", "As target of edges"] : null;

  function bars(mix) {
    const told = mix.slice(0, 12),
      left = Math.max(0, 1 - told.reduce((sum, m) => sum + m[1], 0));
    return [
      ...tenfold.shareRows(told, nodes.name, tenfold.tone),
      left > 0.005 ? el("p", { class: "note" }, `${percent(left)} lies in others.`) : null,
    ].filter(Boolean);
  }
  let ring = () => {};
  const finder = tenfold.finder({
    id: "node",
    label: "Node",
    placeholder: "Find a node by its id",
    names: data.ids,
    answer: (at) => {
      ring(at);
      const edges = nodes.degree(at),
        certain = data.confidence[at];
      const figures = [
        data.weighted
          ? `edges of weight ${number(edges)}`
          : `${number(edges)} ${edges === 1 ? "edge" : "edges"}`,
        data.lefts === null ? null : nodes.right(at) ? "right side" : "left side",
        certain === null ? null : `confidence ${certain.toFixed(2)}`,
        data.drawing && !data.drawing.nodes.includes(at) ? "not in the picture" : null,
      ];
      const rows = both
        ? both.flatMap((title, role) => [
            el("p", { class: "quiet" }, `${title}: ${number(data.roles[role].degrees[at])}`),
            ...bars(nodes.role(role, at)),
          ])
        : bars(nodes.mixes[at]);
      return [
        el("h3", null, "Node “", word(data.ids[at]), "”"),
        el("p", { class: "note" }, figures.filter(Boolean).join(" · ")),
        ...rows,
      ];
    },
    absent: () =>
      complete
        ? `is not among the ${number(data.nodes)} nodes.`
        : `is not among the ${number(data.ids.length)} nodes of this page; the model has ${number(data.nodes)}.`,
    cleared: () => ring(null),
  });
  const pick = (at) => {
    tenfold.hideTip();
    if (nodes.mixes[at].length) tenfold.choose(nodes.mixes[at][0][0]);
    finder.show(at);
  };
  tenfold.onPick((at) => {
    pick(at);
    finder.result.scrollIntoView({ block: "center" });
  });

  const member = ([at, share]) =>
    el(
      "li",
      null,
      el("button", { type: "button", class: "chip", "data-pick": at }, word(data.ids[at])),
      el("span", { class: "number" }, percent(share)),
    );
  const legend = () =>
    el(
      "ul",
      { class: "docs tones", tabindex: 0 },
      data.communities.map((community, c) =>
        el(
          "li",
          null,
          el("button", { type: "button", class: "chip", "data-item": c }, dot(c), nodes.name(c)),
          el("span", { class: "number" }, percent(community.share)),
        ),
      ),
    );
  const panel = el("div", { class: "panel area-chosen" });
  function describe(c) {
    if (c === null) {
      panel.replaceChildren(
        el("h3", null, k === 1 ? "One community" : `${k} communities`),
        el("p", { class: "note" }, "Shares of all memberships. A click on a community or a node shows more."),
        legend(),
      );
      return;
    }
    const own = data.communities[c];
    const figure = (text, x) => (x === null ? null : el("span", null, el("b", null, x), " " + text));
    const near = own.near.map(([other, p]) =>
      el(
        "li",
        null,
        el("button", { type: "button", class: "chip", "data-item": other }, dot(other), nodes.name(other)),
        el("span", { class: "number" }, number(p)),
      ),
    );
    panel.replaceChildren(
      el(
        "button",
        {
          type: "button",
          class: "close",
          "aria-label": "Show all communities",
          click: () => tenfold.choose(null),
        },
        "×",
      ),
      el("h3", { class: "chosen-title" }, dot(c), nodes.name(c)),
      el(
        "p",
        { class: "figures" },
        figure("of memberships", percent(own.share)),
        figure(own.nodes === 1 ? "node above all" : "nodes above all", number(own.nodes)),
        figure("within", number(own.within)),
        figure("α", own.alpha === null ? null : number(own.alpha)),
      ),
      el("h4", null, "Leading members"),
      own.members.length
        ? el("ol", { class: "docs" }, own.members.map(member))
        : el("p", { class: "note" }, "It has none."),
      near.length ? el("h4", null, "Most linked with") : "",
      near.length ? el("ul", { class: "docs" }, near) : "",
      el(
        "p",
        { class: "note" },
        "Members by their share times their edges. “Within” and the numbers of other communities are entries of the connectivity matrix.",
      ),
    );
  }

  const field = el("div", { class: "field" });
  const left = el("div", { class: "panel area-network" }, el("h3", null, "Nodes and links"), field);
  node.append(
    el(
      "div",
      { class: "controls" },
      tenfold.picker({
        id: "community",
        label: "Community",
        names: data.communities.map((_, c) => nodes.name(c)),
        all: nodes.name(null),
      }),
      finder.form,
    ),
    finder.offers,
    finder.result,
    el("div", { class: "graph-panes" }, left, panel),
  );
  for (const chip of document.querySelectorAll("td .chip[data-item]")) chip.prepend(dot(chip.dataset.item));
  tenfold.onChoose(describe);
  tenfold.choose(null);
  if (data.drawing) {
    const network = tenfold.network(field, data, nodes, pick);
    left.prepend(network.buttons);
    ring = network.ring;
  }
  left.append(el("p", { class: "note" }, data.note));
});
