// Colours of items: middle tones, which stand on white and on black. After the first ten, every next one is the
// candidate that is farthest from all before it, in a space where distances are those that people see (OKLab).
(() => {
  const TONES = [
    "#3d85c6",
    "#e08a2e",
    "#3c9d60",
    "#cf4f45",
    "#9070c4",
    "#a9764a",
    "#d977b0",
    "#25a2a8",
    "#b3a02a",
    "#7c8fd9",
  ];
  const MOST = 240; // further items begin again: nobody tells so many colours apart

  function lab(hex) {
    const [r, g, b] = [1, 3, 5].map((i) => {
      const x = parseInt(hex.slice(i, i + 2), 16) / 255;
      return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
    });
    const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b),
      m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b),
      s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return [
      0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
      1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
      0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
  }
  // A colour by hue in degrees, saturation and lightness in hundredths.
  function hex(h, s, l) {
    const channel = (n) => {
      const k = (n + h / 30) % 12,
        a = (s / 100) * Math.min(l / 100, 1 - l / 100);
      const x = Math.round(255 * (l / 100 - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
      return x.toString(16).padStart(2, "0");
    };
    return "#" + channel(0) + channel(8) + channel(4);
  }
  function candidates() {
    const found = [];
    for (let h = 0; h < 360; h += 10)
      for (let s = 15; s <= 90; s += 15)
        for (let l = 24; l <= 76; l += 6) {
          const tone = hex(h, s, l),
            at = lab(tone),
            strength = Math.hypot(at[1], at[2]);
          // Neither too near to the page's own colours, nor so loud that it looks more important.
          if (at[0] > 0.42 && at[0] < 0.84 && strength > 0.05 && strength < 0.18)
            found.push({ tone, at, gap: Infinity });
        }
    return found;
  }
  let left = null;
  function add() {
    const away = (from) => {
      for (const c of left) {
        const d = (c.at[0] - from[0]) ** 2 + (c.at[1] - from[1]) ** 2 + (c.at[2] - from[2]) ** 2;
        if (d < c.gap) c.gap = d;
      }
    };
    if (!left) {
      left = candidates();
      TONES.forEach((tone) => away(lab(tone)));
    }
    const best = left.reduce((a, b) => (b.gap > a.gap ? b : a));
    TONES.push(best.tone);
    away(best.at);
  }
  tenfold.tone = (c) => {
    const at = c % MOST;
    while (TONES.length <= at) add();
    return TONES[at];
  };
})();
