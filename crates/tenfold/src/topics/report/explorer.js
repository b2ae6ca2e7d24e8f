// The chosen topic: its words by relevance, its documents, its neighbours.
tenfold.widget("topics", (node, data) => {
  const { el, word, number, percent } = tenfold;
  const top = data.topics.map((t) => t.words.slice(0, 3).map((at) => data.words[at]));
  const name = (id) => `${id} · ${top[id].join(" ")}`;
  let lambda = 0.6; // what Sievert and Shirley's readers identified topics best with

  const controls = tenfold.picker({
    id: "topic",
    label: "Topic",
    names: data.topics.map((_, id) => name(id)),
  });

  const field = el("div", { class: "field" });
  const left = el(
    "div",
    { class: "panel area-map" },
    el("h3", null, "Topic map"),
    field,
    el(
      "p",
      { class: "note" },
      `Circle areas are shares of tokens; topics that use the same words lie close together. The plane keeps ${percent(data.kept)} of the squared Jensen–Shannon distances.`,
    ),
  );

  const title = el("h3", { class: "chosen-title" }),
    figures = el("p", { class: "figures" });
  const value = el("output", { for: "lambda" });
  const slider = el("input", {
    type: "range",
    id: "lambda",
    min: 0,
    max: data.steps,
    value: Math.round(lambda * data.steps),
    input: () => {
      lambda = slider.value / data.steps;
      bars();
    },
  });
  const rows = el("ol", { class: "bars" });
  const right = el(
    "div",
    { class: "panel area-words" },
    title,
    figures,
    el(
      "div",
      { class: "slide" },
      el("label", { for: "lambda" }, "Relevance λ = ", value),
      slider,
      el(
        "div",
        { class: "ends" },
        el("span", null, "0: its own words"),
        el("span", null, "1: its frequent words"),
      ),
    ),
    el(
      "div",
      { class: "legend" },
      el("span", null, el("i"), "in this topic"),
      el("span", null, el("i", { class: "all" }), "in all documents"),
    ),
    rows,
    el(
      "p",
      { class: "note" },
      "Relevance is λ·log p(w|t) + (1−λ)·log p(w|t)/p(w). A click on a word shows where it is used.",
    ),
  );
  const documents = el("div", { class: "panel documents" }),
    near = el("div", { class: "panel area-near" });

  function bars() {
    const t = data.topics[tenfold.chosen];
    value.textContent = lambda.toFixed(2);
    const scored = t.words.map((at, i) => ({
      at,
      p: t.p[i],
      score: Math.log(t.p[i]) - (1 - lambda) * Math.log(data.unigram[at]),
    }));
    scored.sort((a, b) => b.score - a.score);
    const shown = scored.slice(0, data.shown);
    const most = Math.max(...shown.map((w) => Math.max(w.p, data.unigram[w.at])), 1e-12);
    rows.replaceChildren(
      ...shown.map(({ at, p }) => {
        const own = el("i", { class: "own" }),
          all = el("i", { class: "all" });
        own.style.width = (100 * p) / most + "%";
        all.style.width = (100 * data.unigram[at]) / most + "%";
        const about = `${data.words[at]}\n${percent(p)} in this topic, ${percent(data.unigram[at])} in all: ${number(p / data.unigram[at])} times as often`;
        return el(
          "li",
          {
            pointerenter: (event) => {
              if (event.pointerType === "mouse") tenfold.showTip(about, event.clientX, event.clientY);
            },
            pointerleave: tenfold.hideTip,
          },
          el(
            "button",
            {
              type: "button",
              class: "word",
              click: () => {
                tenfold.hideTip();
                search.show(at);
                search.result.scrollIntoView({ block: "nearest" });
              },
            },
            word(data.words[at]),
          ),
          el("span", { class: "pair" }, own, all),
          el("span", { class: "number" }, percent(p)),
        );
      }),
    );
  }

  function describe(id) {
    const t = data.topics[id];
    title.replaceChildren(
      `Topic ${id}`,
      el(
        "span",
        null,
        top[id].flatMap((w, i) => (i ? [" · ", word(w)] : [word(w)])),
      ),
    );
    const two = (x) => (x === null ? null : x.toFixed(2).replace("-", "−"));
    const figure = (text, x) => (x === null ? [] : [el("span", null, el("b", null, x), " " + text)]);
    figures.replaceChildren(
      ...figure("of tokens", percent(t.share)),
      ...figure("coherence", two(t.coherence)),
      ...figure("stability", two(t.stability)),
      ...figure("α", t.alpha === null ? null : number(t.alpha)),
    );
    bars();
    documents.replaceChildren(el("h3", null, "Documents that show it best"));
    if (t.documents.length) {
      documents.append(
        el(
          "ol",
          { class: "docs" },
          t.documents.map(([label, share]) =>
            el("li", null, el("span", null, word(label)), el("span", { class: "number" }, percent(share))),
          ),
        ),
        el("p", { class: "note" }, "The documents with the largest share of this topic."),
      );
    } else documents.append(el("p", { class: "note" }, "The model holds none for this topic."));
    near.replaceChildren(el("h3", null, "Closest topics"));
    if (t.near.length) {
      near.append(
        el(
          "ul",
          { class: "docs" },
          t.near.map(([other, d]) =>
            el(
              "li",
              null,
              el("button", { type: "button", class: "chip", "data-item": other }, name(other)),
              el("span", { class: "number" }, d.toFixed(2)),
            ),
          ),
        ),
        el("p", { class: "note" }, "Jensen–Shannon distance: 0 is the same words, 1 none in common."),
      );
    } else near.append(el("p", { class: "note" }, "There is only one topic."));
  }

  let light = () => {};
  const search = tenfold.wordSearch(data, name, (uses) => light(uses));
  node.append(
    el("div", { class: "controls" }, controls, search.form),
    search.offers,
    search.result,
    el("div", { class: "panes" }, left, right, near),
    documents,
  );
  tenfold.onChoose(describe);
  tenfold.choose(0);
  light = tenfold.topicMap(field, data, name);
});
