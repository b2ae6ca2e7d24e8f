// Mounts every block, then wires the menu, the colours, copying and printing.
(() => {
  const root = document.documentElement,
    data = JSON.parse(document.getElementById("data").textContent);
  for (const node of document.querySelectorAll("[data-mount]")) {
    const { name, data: inside } = data[Number(node.dataset.mount)];
    tenfold.mount(name)(node, inside);
  }

  const button = document.getElementById("theme"),
    wish = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : wish.matches);
  const label = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Show in ${dark() ? "light" : "dark"} colours`);
  };
  const paint = () => {
    label();
    tenfold.repaint();
  };
  // A page from the disk may have no storage; then the choice lasts as long as the page.
  const keep = (f) => {
    try {
      return f();
    } catch {
      return null;
    }
  };
  const kept = keep(() => localStorage.getItem("tenfold-theme"));
  if (kept === "dark" || kept === "light") {
    root.dataset.theme = kept;
    tenfold.repaint();
  }
  button.hidden = false;
  label();
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    keep(() => localStorage.setItem("tenfold-theme", root.dataset.theme));
    paint();
  });
  wish.addEventListener("change", paint);

  // Paper is white.
  let before;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    tenfold.repaint();
  });
  addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    paint();
  });

  for (const copy of document.querySelectorAll(".copy")) {
    if (!navigator.clipboard) continue;
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(copy.nextElementSibling.textContent);
        copy.textContent = "Copied";
      } catch {
        copy.textContent = "Not allowed";
      }
      setTimeout(() => {
        copy.textContent = "Copy";
      }, 1500);
    });
  }

  const links = [...document.querySelectorAll("nav a")];
  const spy = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        for (const link of links) {
          if (link.hash === "#" + entry.target.id) link.setAttribute("aria-current", "true");
          else link.removeAttribute("aria-current");
        }
      }
    },
    { rootMargin: "-15% 0px -75% 0px" },
  );
  document.querySelectorAll("main section").forEach((section) => spy.observe(section));
})();
