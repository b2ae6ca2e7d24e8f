"""Communities by Leiden (modularity), label propagation and Infomap with their usual settings.

Reads params.json with the list `runs` (what, graph, nodes, peer, seeds) and GRAPH.npy, one row an edge. Each run leaves
labels/GRAPH-PEER-SEED.npy, a number a node, -1 for a node without an edge. The bench program scores them.
"""

import random
import time

import igraph
import infomap
import leidenalg
import numpy as np

from common import arguments, parameters, report

NAMES = {
    "leiden": f"leidenalg {leidenalg.version}",
    "labels": f"igraph {igraph.__version__} label propagation",
    "infomap": f"infomap {infomap.__version__}",
}


def fit_leiden(graph, _edges, seed):
    return leidenalg.find_partition(graph, leidenalg.ModularityVertexPartition, seed=seed).membership


def fit_labels(graph, _edges, seed):
    random.seed(seed)
    return graph.community_label_propagation().membership


def fit_infomap(graph, edges, seed):
    search = infomap.Infomap(two_level=True, silent=True, seed=seed)
    search.add_links([(int(a), int(b)) for a, b in edges])
    labels = [-1] * graph.vcount()
    for node, module in search.run().modules().items():
        labels[node] = module - 1
    return labels


FIT = {"leiden": fit_leiden, "labels": fit_labels, "infomap": fit_infomap}


def main():
    folder, threads = arguments()
    out = folder / "labels"
    out.mkdir(exist_ok=True)
    for run in parameters(folder)["runs"]:
        edges = np.load(folder / f"{run['graph']}.npy").astype(int)
        graph = igraph.Graph(run["nodes"], edges.tolist())
        alone = np.array(graph.degree()) == 0
        seconds, found = [], []
        for seed in run["seeds"]:
            begin = time.perf_counter()
            labels = np.array(FIT[run["peer"]](graph, edges, seed), dtype=np.float64)
            seconds.append(time.perf_counter() - begin)
            labels[alone] = -1
            found.append(len(set(labels[~alone])))
            np.save(out / f"{run['graph']}-{run['peer']}-{seed}.npy", labels)
        report(
            bench="communities",
            what=f"{run['what']}, {run['peer']}",
            seconds=float(np.mean(seconds)),
            threads=threads,
            communities=float(np.mean(found)),
            peer=NAMES[run["peer"]],
        )


main()
