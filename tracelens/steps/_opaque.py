"""CUDA graphs that ran without leaving a record: what the device did meanwhile is not known."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl


def behind_graphs(frames: Mapping[str, pl.DataFrame]) -> pl.Series:
    """The operations (op_id) before which a graph ran unseen: between the launch before and their
    own, their process launched a graph of which no operation was recorded."""
    kinds = frames["api_kind"].filter(pl.col("kind") == "graph_launch").select("name_id").unique()
    if kinds.is_empty():
        return pl.Series("op_id", [], pl.Int64)
    ops = (
        frames["examined_op"]
        .select("op_id", "call_id", "process_id", "call_start_ns")
        .filter(pl.col("call_id").is_not_null())
    )
    unseen = (
        frames["examined_call"]
        .join(kinds, on="name_id")
        .join(ops.select("call_id"), on="call_id", how="anti")
        .select("process_id", graph_ns="start_ns")
        .sort("graph_ns")
    )
    if unseen.is_empty():
        return pl.Series("op_id", [], pl.Int64)
    launches = ops.select("process_id", before_ns="call_start_ns").sort("before_ns")
    return (
        ops.sort("call_start_ns")
        .join_asof(
            unseen,
            left_on="call_start_ns",
            right_on="graph_ns",
            by="process_id",
            check_sortedness=False,
        )
        .join_asof(
            launches,
            left_on="call_start_ns",
            right_on="before_ns",
            by="process_id",
            allow_exact_matches=False,
            check_sortedness=False,
        )
        .filter(pl.col("graph_ns") > pl.col("before_ns").fill_null(-(2**62)))["op_id"]
    )
