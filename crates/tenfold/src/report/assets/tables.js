// Tables sort by any column; numbers by their value, words by the alphabet.
(() => {
  const key = (row, j) => {
    const cell = row.cells[j],
      value = cell.dataset.value;
    return value === undefined ? cell.textContent.trim() : Number(value);
  };
  function compare(a, b) {
    if (typeof a !== "number" || typeof b !== "number")
      return String(a).localeCompare(String(b), "en", { numeric: true });
    // What has no number stands last.
    return (Number.isNaN(a) ? Infinity : a) - (Number.isNaN(b) ? Infinity : b) || 0;
  }
  function prepare(table) {
    const heads = [...table.tHead.rows[0].cells],
      body = table.tBodies[0];
    if (body.rows.length < 3) return;
    heads.forEach((head, j) => {
      const button = tenfold.el("button", { type: "button" }, head.textContent);
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const numeric = [...body.rows].some((row) => row.cells[j].dataset.value !== undefined);
        const now = head.getAttribute("aria-sort");
        const down = now ? now === "ascending" : numeric;
        heads.forEach((h) => h.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...body.rows].sort((a, b) => (down ? -1 : 1) * compare(key(a, j), key(b, j)));
        body.append(...rows);
      });
    });
  }
  document.querySelectorAll("main table").forEach(prepare);
})();
