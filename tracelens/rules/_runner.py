"""Run every rule over a run's frames, and put what they say in the order a reader needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tracelens import rules
from tracelens.diagnosis import SEVERITIES, CoverageWarning, Diagnosis, Findings, NotChecked

if TYPE_CHECKING:
    import polars as pl

    from tracelens.rules import Frames, Rule


def find(frame_of: Callable[[str], pl.DataFrame], chosen: Sequence[Rule] | None = None) -> Findings:
    """Judge a run: ``frame_of`` gives a relation by name, as ``Engine.frame`` does.

    Reads ``device`` (one row a device: device_id, process_id) beside what the rules read.
    """
    run_rules = rules.all_rules() if chosen is None else chosen
    names = dict.fromkeys(name for rule in run_rules for name in rule.reads)
    frames = {name: frame_of(name) for name in names}
    devices = frame_of("device").to_dicts()
    by_device = [_only(frames, device) for device in devices]
    found: list[Diagnosis] = []
    warnings: list[CoverageWarning] = []
    unchecked: list[NotChecked] = []
    for rule in run_rules:
        views = [frames] if rule.sees_whole_run or not by_device else by_device
        said, reasons = _judge(rule, views)
        if len(reasons) == len(views):
            unchecked.append(NotChecked(rule.id, reasons[0]))
        found += [s for s in said if isinstance(s, Diagnosis)]
        warnings += [s for s in said if isinstance(s, CoverageWarning)]
    roots = {rule.id: rule.roots for rule in run_rules}
    told = _merge_devices(_fold_consequences(found, roots))
    return Findings(
        tuple(sorted(told, key=_urgency)),
        tuple(sorted(warnings, key=lambda w: (SEVERITIES.index(w.severity), w.code))),
        tuple(unchecked),
    )


def _judge(
    rule: Rule, views: Iterable[Frames]
) -> tuple[list[Diagnosis | CoverageWarning], list[str]]:
    """What a rule says of each view, and the reasons of those that it cannot judge."""
    said: list[Diagnosis | CoverageWarning] = []
    reasons: list[str] = []
    for view in views:
        if reason := rule.not_checked(view):
            reasons.append(reason)
        else:
            said += rule.check(view)
    return said, reasons


def _only(frames: Frames, device: dict[str, Any]) -> Frames:
    """The rows of one device; where a relation has none, those of its process; else all."""
    view = {}
    for name, frame in frames.items():
        key = next((k for k in ("device_id", "process_id") if k in frame.columns), None)
        view[name] = frame if key is None else frame.filter(frame[key] == device[key])
    return view


def _urgency(diagnosis: Diagnosis) -> tuple[int, float]:
    return SEVERITIES.index(diagnosis.severity), -(diagnosis.recoverable_ms or 0.0)


def _fold_consequences(
    found: Sequence[Diagnosis], roots: Mapping[str, Mapping[str, str]]
) -> list[Diagnosis]:
    """Tell a finding with its root, where that is found on the same device and worth as much."""
    kept = sorted(found, key=_urgency)
    for diagnosis in reversed(list(kept)):
        mine = roots.get(diagnosis.id, {})
        root = next((k for k in kept if _is_root(k, diagnosis, mine)), None)
        if root is not None:
            kept.remove(diagnosis)
            kept[kept.index(root)] = _with_consequence(root, diagnosis)
    return kept


def _is_root(root: Diagnosis, diagnosis: Diagnosis, roots: Mapping[str, str]) -> bool:
    return (
        root.id in roots
        and root.where.get("doing") == roots[root.id]
        and root.where.get("device") == diagnosis.where.get("device")
        and _urgency(root) <= _urgency(diagnosis)
    )


def _with_consequence(root: Diagnosis, consequence: Diagnosis) -> Diagnosis:
    told = {"id": consequence.id, "title": consequence.title}
    where = {**root.where, "consequences": [*root.where.get("consequences", ()), told]}
    also = f"It also shows as {consequence.id}: {consequence.title}."
    return replace(root, where=where, explanation=f"{root.explanation} {also}")


def _merge_devices(found: Iterable[Diagnosis]) -> list[Diagnosis]:
    """One diagnosis a finding: the worst device's, with the others named in ``where.devices``."""
    by_id: dict[str, list[Diagnosis]] = {}
    for diagnosis in found:
        by_id.setdefault(diagnosis.id, []).append(diagnosis)
    return [_worst_of(same) for same in by_id.values()]


def _worst_of(same: list[Diagnosis]) -> Diagnosis:
    ranked = sorted(same, key=_urgency)
    devices = list(dict.fromkeys(d.where["device"] for d in ranked if "device" in d.where))
    if len(devices) < 2:
        return ranked[0]
    return replace(ranked[0], where={**ranked[0].where, "devices": devices})
