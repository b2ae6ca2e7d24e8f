"""Trees beside agglomerative clustering: the thesis's table of Robinson–Foulds distances from a known hierarchy.

    python experiments/trees/hierarchy.py target/release/tenfold DATA > experiments/results/trees-hierarchy.md

DATA is the folder with `health/` (the open demo of MIMIC-III and the phecode tables). Needs numpy, scipy and networkx. Every admission is a
sample, every phecode a variable. The hierarchy of phecodes is the truth there: chapters, three digits, one and two digits behind the point.
Drawn tables have the tree that they were drawn from. Clustering is average linkage on one minus the absolute correlation; it
gives a binary tree. `RF` is the number of splits that only one of two trees has over all splits of both: the thesis does not say how it
normalised its figures, so they stand beside ours and are not compared.
"""

import csv
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import networkx as nx
import numpy as np
from scipy.cluster.hierarchy import linkage, to_tree
from scipy.spatial.distance import squareform

PUBLISHED = [("MIMIC2", 163, 0.0061, 0.0061), ("CMS", 168, 0.0060, 0.0059), ("MIMIC2", 952, 0.0060, 0.0011)]


def splits(graph, leaves):
    """The splits of a tree, each as the side without the first leaf; sides of one leaf split nothing. The trees of a forest hang on one node,
    each by its middle."""
    found, first, rest = set(), min(leaves), set(leaves)
    for part in list(nx.connected_components(graph)):
        graph.add_edge("forest", max(sorted(part, key=str), key=graph.degree))
    for a, b in list(graph.edges):
        graph.remove_edge(a, b)
        side = nx.node_connected_component(graph, a) & rest
        graph.add_edge(a, b)
        side = rest - side if first in side else side
        if 1 < len(side) < len(rest) - 1:
            found.add(frozenset(side))
    return found


def distance(one, other):
    return len(one ^ other) / max(len(one) + len(other), 1)


def learnt(program, model):
    """The tree of a model as a graph over names; hidden nodes keep their numbers."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([program, "trees", "export", model, "--format", "json", "-o", file.name], check=True, capture_output=True)
        told = json.loads(Path(file.name).read_text())
    names = {node["id"]: node["id"] if node["kind"] == "hidden" else node["name"] for node in told["nodes"]}
    graph = nx.Graph()
    for node in told["nodes"]:
        graph.add_node(names[node["id"]])
    # An observed node inside the tree splits as a leaf on a node of its own would.
    for edge in told["edges"]:
        ends = [("inner", names[end]) if isinstance(names[end], str) else names[end] for end in (edge["source"], edge["target"])]
        graph.add_edge(*ends)
        for end in ends:
            if isinstance(end, tuple):
                graph.add_edge(end, end[1])
    return graph, [name for name in names.values() if isinstance(name, str)]


def clustered(columns, names):
    """Average linkage on one minus the absolute correlation."""
    like = np.abs(np.nan_to_num(np.corrcoef(columns.T)))
    apart = np.clip(1 - like, 0, 1)
    np.fill_diagonal(apart, 0)
    graph = nx.Graph()

    def add(node):
        here = names[node.id] if node.is_leaf() else ("join", node.id)
        graph.add_node(here)
        for below in (node.left, node.right) if not node.is_leaf() else ():
            graph.add_edge(here, add(below))
        return here

    sys.setrecursionlimit(10_000)
    add(to_tree(linkage(squareform((apart + apart.T) / 2, checks=False), "average")))
    return graph


def row(name, p, samples, program, model, columns, names, truth):
    found, own = learnt(program, model)
    assert sorted(own) == sorted(names)
    true = splits(truth, names)
    ours, theirs = splits(found, names), splits(clustered(columns, names), names)
    shared = f"{len(ours & true)} of {len(ours)}, {len(theirs & true)} of {len(theirs)}"
    print(f"| {name} | {p} | {samples} | {len(true)} | {distance(theirs, true):.4f} | {distance(ours, true):.4f} | {shared} |", flush=True)


def drawn(program, folder, p):
    table, model = folder / f"drawn-{p}.csv", folder / f"drawn-{p}.tenfold"
    subprocess.run([program, "generate", "trees", "--variables", str(p), "--seed", "11", "-o", table], check=True, capture_output=True)
    subprocess.run([program, "trees", "fit", table, "--bootstrap", "0", "-o", model], check=True, capture_output=True)
    with open(table) as file:
        names = next(csv.reader(file))
        rows = list(csv.reader(file))
    columns = np.array([[cell == first for cell, first in zip(one, rows[0])] for one in rows], float)
    row("drawn", p, len(rows), program, model, columns, names, newick(next(folder.glob(f"drawn-{p}*.nwk")).read_text()))


def newick(text):
    """A small reader: names, brackets, lengths."""
    graph, stack, last, count = nx.Graph(), [], None, 0
    token = ""

    def close():
        nonlocal token, last
        name = token.split(":")[0].strip().strip("'")
        token = ""
        if last is None and name:
            graph.add_edge(stack[-1], name)
        last = None

    for letter in text.strip().rstrip(";"):
        if letter == "(":
            count += 1
            if stack:
                graph.add_edge(stack[-1], ("node", count))
            stack.append(("node", count))
            last = None
        elif letter in ",)":
            close()
            if letter == ")":
                last = stack.pop()
        else:
            token += letter
    return graph


def phecodes(program, folder, data):
    """Admissions of the demo by phecode, and the hierarchy of phecodes."""
    health = data / "health"

    def rows(name):
        opened = gzip.open(health / name, "rt") if name.endswith(".gz") else open(health / name)
        with opened as file:
            return list(csv.DictReader(file))

    codes = {}
    for one in rows("phemap.csv.gz"):
        held = codes.get(one["icd9"].replace(".", ""), "")
        codes[one["icd9"].replace(".", "")] = max(held, one["phecode"], key=len)
    seen = {}
    for one in rows("DIAGNOSES_ICD.csv"):
        phecode = codes.get(one["ICD9_CODE"])
        if phecode:
            seen.setdefault(phecode, set()).add(one["HADM_ID"])
    admissions = sorted({one["HADM_ID"] for one in rows("DIAGNOSES_ICD.csv")})
    names = sorted(code for code, held in seen.items() if len(held) >= 5)
    columns = np.array([[admission in seen[code] for code in names] for admission in admissions], float)
    table, model = folder / "phecodes.csv", folder / "phecodes.tenfold"
    with open(table, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"p{code}" for code in names])
        writer.writerows([["yes" if cell else "no" for cell in one] for one in columns])
    subprocess.run([program, "trees", "fit", table, "--bootstrap", "0", "-o", model], check=True, capture_output=True)
    chapters = {one["phecode"]: one["group"] for one in rows("pheinfo.csv.gz")}
    truth = nx.Graph()
    for code in names:
        whole, _, behind = code.partition(".")
        path = ["root", ("chapter", chapters.get(code) or chapters.get(whole)), ("phecode", whole)]
        path += [("phecode", f"{whole}.{behind[:n]}") for n in range(1, len(behind))] + [f"p{code}"]
        nx.add_path(truth, path)
    row("MIMIC-III demo", len(names), len(admissions), program, model, columns, [f"p{code}" for code in names], truth)


def main(program, data):
    print("# Trees beside agglomerative clustering\n")
    print(__doc__.split("\n\n", 2)[2])
    print("| data | p | samples | true splits | RF, clustering | RF, tenfold | true among found: tenfold, clustering |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        phecodes(program, folder, Path(data))
        for p in (163, 952):
            drawn(program, folder, p)
    print("\nPublished (normalised in a way that is not told):\n\n| data | p | RF, clustering | RF, thesis |\n| --- | --- | --- | --- |")
    for name, p, agglomerative, proposed in PUBLISHED:
        print(f"| {name} | {p} | {agglomerative:.4f} | {proposed:.4f} |")
    print(
        "\nThe demo has 129 admissions of 100 patients: too few to tell a hierarchy of diseases. tenfold joins only what is beyond chance and leaves"
        " the other variables alone, so it has few splits; clustering always has p − 3 of them, of which few are in the hierarchy."
    )


main(*sys.argv[1:3])
