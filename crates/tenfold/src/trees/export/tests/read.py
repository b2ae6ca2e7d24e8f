"""Reads exported trees with the programs they are meant for; those that are not installed are left out."""

import importlib.util
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])


def have(name):
    found = importlib.util.find_spec(name) is not None
    if not found:
        print(f"skipped: {name} is not installed")
    return found


def names(path):
    return [node["name"] for node in json.loads(path.with_suffix(".json").read_text())["nodes"]]


if have("networkx"):
    import networkx as nx

    for path in sorted(folder.glob("*.graphml")):
        graph = nx.read_graphml(path)
        told = json.loads(path.with_suffix(".json").read_text())
        other = nx.node_link_graph(told, edges="edges")
        assert nx.is_forest(graph) and nx.is_forest(other)
        assert len(graph) == len(other) and graph.size() == other.size()
        # XML has no control characters.
        clean = lambda name: name.replace("\u0001", "\ufffd")
        assert [graph.nodes[f"n{n}"].get("name", "") for n in other] == [clean(n) for n in names(path)]
        assert all(graph.edges[f"n{a}", f"n{b}"]["length"] == x for a, b, x in other.edges(data="length"))
    print("networkx reads GraphML and JSON")

if have("pydot"):
    import pydot

    for path in sorted(folder.glob("*.dot")):
        (graph,) = pydot.graph_from_dot_file(path)
        told = json.loads(path.with_suffix(".json").read_text())
        labels = {node.get_name(): node.get("label") for node in graph.get_nodes() if node.get("label")}
        assert len(labels) == len(told["nodes"]) and len(graph.get_edges()) == len(told["edges"])
        for node in told["nodes"]:
            plain = "".join(" " if ord(c) < 32 else c for c in node["name"])
            assert labels[f"n{node['id']}"][1:-1].replace('\\"', '"').replace("\\\\", "\\") == plain
    print("pydot reads DOT")

if have("dendropy"):
    import dendropy

    for path in sorted(folder.glob("*.newick")):
        kinds = json.loads(path.with_suffix(".json").read_text())["nodes"]
        observed = sorted("".join(" " if ord(c) < 32 else c for c in n["name"]) for n in kinds if n["kind"] != "hidden")
        for file, schema in [(path, "newick"), (path.with_suffix(".nexus"), "nexus")]:
            trees = dendropy.TreeList.get(
                path=str(file),
                schema=schema,
                preserve_underscores=True,
                case_sensitive_taxon_labels=True,
                taxon_namespace=dendropy.TaxonNamespace(is_case_sensitive=True),
            )
            tips = sorted(leaf.taxon.label if leaf.taxon else "" for tree in trees for leaf in tree.leaf_node_iter())
            assert tips == observed, (tips, observed)
    print("dendropy reads Newick and NEXUS")

if have("pgmpy"):
    import numpy as np
    from pgmpy.readwrite import BIFReader

    for path in sorted(folder.glob("*.bif")):
        model = BIFReader(str(path)).get_model()
        assert model.check_model()
        for cpd in model.get_cpds():
            assert np.allclose(cpd.get_values().sum(axis=0), 1), cpd.variable
        told = json.loads(path.with_suffix(".json").read_text())["nodes"]
        nodes = sum({"real": 0, "flags": len(n.get("labels", ()))}.get(n["kind"], 1) for n in told)
        assert len(model.nodes()) == nodes, (len(model.nodes()), nodes)
    print("pgmpy reads BIF")
