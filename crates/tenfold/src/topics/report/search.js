// Search: where a word is used. Only words of this page are found, and the answer says so.
(() => {
  const { el, word, number, percent } = tenfold;
  const OFFERED = 8;

  tenfold.wordSearch = (data, name, light) => {
    const places = new Map();
    data.words.forEach((w, at) => {
      if (!places.has(w)) places.set(w, at);
    });
    const complete = data.words.length >= data.vocabulary;
    const input = el("input", {
      type: "search",
      id: "word",
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      enterkeyhint: "search",
      placeholder: "Find a word",
    });
    const offers = el("div", { class: "offers", hidden: true });
    const result = el("div", { class: "panel result", role: "status", hidden: true });

    const find = (text) =>
      [text, text.toLowerCase(), text.normalize("NFC"), text.normalize("NFC").toLowerCase()]
        .map((t) => places.get(t))
        .find((at) => at !== undefined);
    function like(text) {
      const t = text.toLowerCase(),
        begins = [],
        holds = [];
      for (let at = 0; at < data.words.length && begins.length < OFFERED; at++) {
        const w = data.words[at].toLowerCase();
        if (w.startsWith(t)) begins.push(at);
        else if (holds.length < OFFERED && t.length > 2 && w.includes(t)) holds.push(at);
      }
      return begins.concat(holds).slice(0, OFFERED);
    }
    const offer = (at) =>
      el("button", { type: "button", class: "chip", click: () => show(at) }, word(data.words[at]));
    const closing = () =>
      el("button", { type: "button", class: "close", "aria-label": "Close the answer", click: clear }, "×");

    function show(at) {
      const w = data.words[at],
        uses = [];
      for (let i = 0; i < data.uses[at].length; i += 2)
        uses.push([data.uses[at][i], data.uses[at][i + 1] / 1000]);
      const rest = Math.max(0, 1 - uses.reduce((sum, u) => sum + u[1], 0));
      const most = Math.max(...uses.map((u) => u[1]), 1e-9);
      input.value = w;
      offers.hidden = true;
      const rows = uses.slice(0, 12).map(([t, share]) => {
        const bar = el("i", { class: "fillbar" });
        bar.style.width = (100 * share) / most + "%";
        return el(
          "div",
          { class: "use" },
          el(
            "button",
            { type: "button", class: "chip" + (t === tenfold.chosen ? " chosen" : ""), "data-item": t },
            name(t),
          ),
          el("span", { class: "track" }, bar),
          el("span", { class: "number" }, percent(share)),
        );
      });
      const left = rest + uses.slice(12).reduce((sum, u) => sum + u[1], 0);
      result.replaceChildren(
        closing(),
        el("h3", null, "Where “", word(w), "” is used"),
        el(
          "p",
          { class: "note" },
          `${percent(data.unigram[at])} of all tokens. Bars are topics’ shares of its uses` +
            (left > 0.005 ? `; ${percent(left)} lies in others.` : "."),
        ),
        ...rows,
      );
      result.hidden = false;
      light(new Map(uses));
    }
    function absent(text) {
      const near = like(text);
      result.replaceChildren(
        closing(),
        el(
          "p",
          null,
          "“",
          word(text),
          "” ",
          complete
            ? `is not among the model’s ${number(data.vocabulary)} words.`
            : `is not among the ${number(data.words.length)} words of this page; the model has ${number(data.vocabulary)}.`,
        ),
      );
      if (near.length) result.append(el("p", { class: "near" }, "Did you mean ", near.map(offer)));
      result.hidden = false;
      offers.hidden = true;
      light(null);
    }
    function clear() {
      result.hidden = offers.hidden = true;
      input.value = "";
      light(null);
      input.focus();
    }
    function ask() {
      const text = input.value.trim();
      if (!text) return clear();
      const at = find(text);
      if (at === undefined) absent(text);
      else show(at);
    }
    input.addEventListener("input", () => {
      const text = input.value.trim(),
        found = text ? like(text) : [];
      offers.replaceChildren(...found.map(offer));
      offers.hidden = !found.length;
      if (!text) {
        result.hidden = true;
        light(null);
      }
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") clear();
    });
    const form = el(
      "form",
      {
        class: "find",
        role: "search",
        submit: (event) => {
          event.preventDefault();
          ask();
        },
      },
      el("label", { for: "word", class: "quiet" }, "Word"),
      input,
      el("button", { type: "submit" }, "Find"),
    );
    return { form, offers, result, show };
  };
})();
