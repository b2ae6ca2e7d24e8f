// What the parts of the page know about nodes and communities: memberships, names.
(() => {
  const { percent, number } = tenfold;
  const pairs = (flat) => {
    const found = [];
    for (let i = 0; i < flat.length; i += 2) found.push([flat[i], flat[i + 1] / 1000]);
    return found;
  };
  // Of a node with two roles, the mean of both, weighted by its edges.
  function joined(roles, at) {
    if (roles.length === 1) return pairs(roles[0].mixes[at]);
    const total = roles.reduce((sum, role) => sum + role.degrees[at], 0),
      sums = new Map();
    for (const role of roles) {
      const weight = total > 0 ? role.degrees[at] / total : 1 / roles.length;
      for (const [c, share] of pairs(role.mixes[at])) sums.set(c, (sums.get(c) || 0) + weight * share);
    }
    return [...sums].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  }

  tenfold.graphNodes = (data) => {
    const mixes = data.ids.map((_, at) => joined(data.roles, at));
    const degree = (at) => data.roles.reduce((sum, role) => sum + role.degrees[at], 0);
    const right = (at) => data.lefts !== null && at >= data.lefts;
    const short = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
    // Edges, side and main communities of a node, in words.
    function told(at) {
      const edges = degree(at),
        side = data.lefts === null ? "" : right(at) ? " · right side" : " · left side";
      const shares = mixes[at].slice(0, 4).map(([c, share]) => `community ${c}: ${percent(share)}`);
      const what = data.weighted
        ? "weight of its edges " + number(edges)
        : number(edges) + (edges === 1 ? " edge" : " edges");
      return [what + side, ...shares];
    }
    return {
      mixes,
      degree,
      right,
      short,
      role: (role, at) => pairs(data.roles[role].mixes[at]),
      name: (c) => (c === null ? "All communities" : `Community ${c}`),
      share: (at, c) => (mixes[at].find((m) => m[0] === c) || [c, 0])[1],
      ids: data.ids,
      told,
      about: (at) => [data.ids[at], ...told(at)].join("\n"),
    };
  };
})();
