"""Trees are graphs for Hatchet."""

from __future__ import annotations

from conftest import DEMO, need

import sto


def test_tree_is_a_graphframe(store: sto.Store) -> None:
    need("hatchet")
    graph = store.tree("v1").to_graphframe()
    assert sorted(graph.exc_metrics) == ["samples", "time"]
    assert sorted(graph.inc_metrics) == ["samples (inc)", "time (inc)"]
    costs = graph.dataframe.set_index("name")[["time", "time (inc)"]]
    assert costs.loc["main"].tolist() == [200, 2000]
    assert costs.loc["parse"].tolist() == [590, 590]
    # Hatchet itself adds up the same inclusive costs.
    expected = graph.dataframe["time (inc)"].tolist()
    graph.update_inclusive_columns()
    assert graph.dataframe["time (inc)"].tolist() == expected


def test_hatchet_finds_what_got_slower() -> None:
    need("hatchet")
    store = sto.memory()
    trees = [store.tree(DEMO / f"{build}.perf.data", prune={"min_share": 0}) for build in ("v1", "v2")]
    before, after = (tree.to_graphframe() for tree in trees)
    assert before.dataframe["samples"].sum() == trees[0].samples
    change = (after - before).dataframe.groupby("name")["time"].sum()
    assert change.idxmax() in ("append_text", "hash")
