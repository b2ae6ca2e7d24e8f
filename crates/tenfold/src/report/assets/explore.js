// For pages that are explored: choosing an item by name, searching, and shares of items as bars.
(() => {
  const { el, word, percent } = tenfold;
  const OFFERED = 8;

  // A list of the items with arrows beside it. `all`, when given, is the name of choosing none of them.
  tenfold.picker = ({ id, label, names, all }) => {
    const k = names.length;
    const option = (value, name) => el("option", { value }, name);
    const select = el(
      "select",
      { id, change: () => tenfold.choose(select.value === "" ? null : Number(select.value)) },
      all ? option("", all) : null,
      names.map((name, i) => option(i, name)),
    );
    const step = (by) => {
      const from = tenfold.chosen === null ? (by > 0 ? -1 : 0) : tenfold.chosen;
      tenfold.choose((from + by + k) % k);
    };
    const arrow = (word, sign, by) =>
      el(
        "button",
        { type: "button", "aria-label": `${word} ${label.toLowerCase()}`, click: () => step(by) },
        sign,
      );
    tenfold.onChoose((item) => {
      select.value = item === null ? "" : String(item);
    });
    return el(
      "div",
      { class: "pick" },
      el("label", { for: id, class: "quiet" }, label),
      arrow("Previous", "‹", -1),
      select,
      arrow("Next", "›", 1),
    );
  };

  // A search field: offers while one types, and a panel with the answer. Only names of this page are found, and the
  // answer says so. `answer(at)` gives what the panel shows for the name at this
  // place, `absent()` the end of the sentence about a name that is not there; `cleared` is told when the answer goes.
  tenfold.finder = ({ id, label, placeholder, names, answer, absent, cleared }) => {
    const places = new Map();
    names.forEach((name, at) => {
      if (!places.has(name)) places.set(name, at);
    });
    const input = el("input", {
      type: "search",
      id,
      autocomplete: "off",
      autocapitalize: "off",
      spellcheck: "false",
      enterkeyhint: "search",
      placeholder,
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
      for (let at = 0; at < names.length && begins.length < OFFERED; at++) {
        const name = names[at].toLowerCase();
        if (name.startsWith(t)) begins.push(at);
        else if (holds.length < OFFERED && t.length > 2 && name.includes(t)) holds.push(at);
      }
      return begins.concat(holds).slice(0, OFFERED);
    }
    const offer = (at) =>
      el("button", { type: "button", class: "chip", click: () => show(at) }, word(names[at]));
    const closing = () =>
      el("button", { type: "button", class: "close", "aria-label": "Close the answer", click: clear }, "×");

    function show(at) {
      input.value = names[at];
      offers.hidden = true;
      result.replaceChildren(closing(), ...answer(at));
      result.hidden = false;
    }
    function miss(text) {
      const near = like(text);
      result.replaceChildren(closing(), el("p", null, "“", word(text), "” ", absent()));
      if (near.length) result.append(el("p", { class: "near" }, "Did you mean ", near.map(offer)));
      result.hidden = false;
      offers.hidden = true;
      cleared();
    }
    function clear() {
      result.hidden = offers.hidden = true;
      input.value = "";
      cleared();
      input.focus();
    }
    function ask() {
      const text = input.value.trim();
      if (!text) return clear();
      const at = find(text);
      if (at === undefined) miss(text);
      else show(at);
    }
    input.addEventListener("input", () => {
      const text = input.value.trim(),
        found = text ? like(text) : [];
      offers.replaceChildren(...found.map(offer));
      offers.hidden = !found.length;
      if (!text) {
        result.hidden = true;
        cleared();
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
      el("label", { for: id, class: "quiet" }, label),
      input,
      el("button", { type: "submit" }, "Find"),
    );
    return { form, offers, result, show, clear };
  };

  // Shares of items as bars: [[item, share], …], the item's name, and its colour if it has one.
  tenfold.shareRows = (shares, name, colour) => {
    const most = Math.max(...shares.map((s) => s[1]), 1e-9);
    return shares.map(([item, share]) => {
      const bar = el("i", { class: "fillbar" });
      bar.style.width = (100 * share) / most + "%";
      if (colour) bar.style.background = colour(item);
      return el(
        "div",
        { class: "use" },
        el(
          "button",
          { type: "button", class: "chip" + (item === tenfold.chosen ? " chosen" : ""), "data-item": item },
          name(item),
        ),
        el("span", { class: "track" }, bar),
        el("span", { class: "number" }, percent(share)),
      );
    });
  };
})();
