// Where the nodes of a tree stand: what is folded, which rows are seen, and places across the page or around a middle.
(() => {
  // Rows that a page shows at first, when the tree has more: as many as a screen holds.
  const ROWS = innerWidth < 640 ? 32 : 44;

  // The tree with children, sizes and colours. `group` is the cluster that all variables of a branch are in, or null.
  tenfold.branches = (data) => {
    const nodes = data.nodes.map(
      (node, id) => node && { ...node, id, children: [], hidden: id >= data.observed },
    );
    const all = nodes.filter((node) => node);
    const roots = [];
    for (const node of all) {
      if (node.parent === null) roots.push(node);
      else nodes[node.parent].children.push(node);
    }
    const order = [];
    const open = [...roots];
    while (open.length) {
      const node = open.pop();
      order.push(node);
      open.push(...node.children);
    }
    // Far lengths would leave no room for the others.
    const lengths = all.filter((n) => n.edge).map((n) => n.edge.length || 0);
    const middle = [...lengths].sort((a, b) => a - b)[lengths.length >> 1] || 1;
    for (const node of order)
      node.depth =
        node.parent === null
          ? 0
          : nodes[node.parent].depth + Math.min(Math.max(node.edge.length || 0, 0.08 * middle), 3 * middle);
    for (const node of order.reverse()) {
      node.size = node.hidden ? 0 : 1;
      node.far = node.depth;
      node.first = node.hidden ? Infinity : node.id;
      let group = node.hidden ? undefined : node.cluster;
      for (const child of node.children) {
        node.size += child.size;
        node.far = Math.max(node.far, child.far);
        node.first = Math.min(node.first, child.first);
        group = group === undefined || group === child.group ? child.group : null;
      }
      node.group = group === undefined ? null : group;
      node.children.sort((a, b) => a.size - b.size || a.first - b.first);
    }
    roots.sort((a, b) => b.size - a.size || a.id - b.id);
    const deepest = Math.max(...all.map((n) => n.far), 1e-9);
    all.forEach((node) => {
      node.at = node.depth / deepest;
      node.reach = node.far / deepest;
    });
    return { nodes, all, roots, observed: data.observed };
  };

  // Folds branches so that at most `rows` rows are left: the largest are opened first, and those of one group last.
  tenfold.foldTo = (tree, rows = ROWS) => {
    const folded = new Set(tree.all.filter((n) => n.children.length && n.parent !== null).map((n) => n.id));
    // Variables that hang on nothing stand below the trees and take no room from them.
    let seen = tree.roots.reduce((sum, n) => sum + n.children.length, 0);
    const mixed = (n) => (n.group === null ? 1 : 0);
    const open = tree.roots.flatMap((n) => n.children).filter((n) => n.children.length);
    while (open.length) {
      open.sort((a, b) => mixed(a) - mixed(b) || a.size - b.size);
      const node = open.pop();
      if (seen + node.children.length - 1 > rows) break;
      seen += node.children.length - 1;
      folded.delete(node.id);
      open.push(...node.children.filter((n) => n.children.length));
    }
    return folded;
  };

  // Rows from top to bottom: every node that is seen gets `row`, in the middle of what hangs on it.
  tenfold.rows = (tree, folded) => {
    const seen = [];
    let count = 0;
    const open = tree.roots.map((node) => [node, false]).reverse();
    while (open.length) {
      const [node, done] = open.pop();
      const shut = folded.has(node.id) || !node.children.length;
      if (done) {
        const [first, last] = [node.children[0], node.children.at(-1)];
        node.row = (first.row + last.row) / 2;
        if (!node.hidden && node.children.length === 1) node.row = (node.own + last.row) / 2;
        continue;
      }
      seen.push(node);
      if (shut) node.row = count++;
      else {
        // A variable inside the tree has a row of its own, above those of its branches.
        if (!node.hidden) node.own = count++;
        open.push([node, true]);
        for (const child of [...node.children].reverse()) open.push([child, false]);
      }
    }
    return { seen, count };
  };
})();
