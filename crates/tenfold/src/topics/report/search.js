// Search: where a word is used.
(() => {
  const { el, word, number, percent } = tenfold;
  const TOLD = 12;

  tenfold.wordSearch = (data, name, light) => {
    const complete = data.words.length >= data.vocabulary;
    function answer(at) {
      const uses = [];
      for (let i = 0; i < data.uses[at].length; i += 2)
        uses.push([data.uses[at][i], data.uses[at][i + 1] / 1000]);
      const left = Math.max(0, 1 - uses.slice(0, TOLD).reduce((sum, u) => sum + u[1], 0));
      light(new Map(uses));
      return [
        el("h3", null, "Where “", word(data.words[at]), "” is used"),
        el(
          "p",
          { class: "note" },
          `${percent(data.unigram[at])} of all tokens. Bars are topics’ shares of its uses` +
            (left > 0.005 ? `; ${percent(left)} lies in others.` : "."),
        ),
        ...tenfold.shareRows(uses.slice(0, TOLD), name),
      ];
    }
    return tenfold.finder({
      id: "word",
      label: "Word",
      placeholder: "Find a word",
      names: data.words,
      answer,
      absent: () =>
        complete
          ? `is not among the model’s ${number(data.vocabulary)} words.`
          : `is not among the ${number(data.words.length)} words of this page; the model has ${number(data.vocabulary)}.`,
      cleared: () => light(null),
    });
  };
})();
