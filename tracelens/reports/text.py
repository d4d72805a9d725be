"""The report for a terminal: what to do first, then where the time went, then the tables."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tracelens.report import Report
from tracelens.reports import _words as words

_STYLES = {"high": "bold red", "medium": "bold yellow", "low": "cyan", "info": "dim"}
_PART_STYLES = {"compute": "green", "communication": "magenta", "copy": "blue", "idle": "red"}
_SHOWN_KERNELS = 8
_SHOWN_OPERATORS = 8
_SHOWN_PARTS = 12
_SHOWN_DEVICES = 32
_SHOWN_PHASES = 16
_SHOWN_RANKS = 64
_WIDEST = 120
"""Lines longer than this are hard to read, on however wide a screen."""


NAMES_THE_RUN = True
"""It says what to type next, and so takes the run as it was named."""


def render(report: Report, *, width: int = 80, color: bool = False, run: Sequence[str] = ()) -> str:
    """The report as text of at most ``width`` columns, with terminal colours where asked for.

    ``run`` is how the recordings were named; their names in the report where not given.
    """
    width = min(width, _WIDEST)
    out = StringIO()
    console = Console(
        file=out, width=width, force_terminal=color, no_color=not color, highlight=False,
        emoji=False, markup=False, legacy_windows=False,
    )  # fmt: skip
    for title, body in _sections(report, width, run or report["trace"]["files"]):
        blocks = list(body)
        if not blocks:
            continue
        if title:
            console.print()
            console.print(Text(title, style="bold"))
        for block in blocks:
            console.print(Padding(block, (0, 0, 0, 2)) if title else block)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _sections(
    report: Report, width: int, run: Sequence[str]
) -> Iterator[tuple[str, Iterator[RenderableType]]]:
    yield "", _head(report)
    yield "What to do, first things first", _findings(report)
    yield "Since the baseline", _baseline(report)
    if len(report["budget"]) > words.FEW_DEVICES:
        yield "Where an ordinary iteration's time goes", _budgets(report, width)
    else:
        for budget in report["budget"]:
            yield _budget_title(report, budget), _budget(budget, width)
    yield "Ranks", _ranks(report)
    yield "Iterations", _iterations(report, width)
    yield "Phases", _phases(report)
    yield "Most GPU time", _kernels(report, width)
    yield "Operators", _operators(report, width)
    yield "Device memory", _memory(report)
    yield "Worth knowing", _facts(report)
    yield "How far to trust this", _coverage(report)
    yield "Not checked", _not_checked(report)
    yield "", _foot(report, run, width)


def _head(report: Report) -> Iterator[RenderableType]:
    names = [words.clean(Path(f).name) for f in report["trace"]["files"]]
    files = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    yield Text.assemble(
        (files, "bold"), f" · {words.subject(report)} · {words.ms(report['trace']['span_ms'])} ms"
    )
    yield Text(words.iteration_line(report), style="dim")
    loud = any(d["severity"] in words.LOUD for d in report["diagnoses"])
    yield Text("")
    yield Text(words.verdict(report), style="bold red" if loud else "bold green")
    if rate := (report["throughput"] or {}).get("samples_per_second"):
        yield Text(f"{words.count(round(rate, 1))} samples a second.")


def _baseline(report: Report) -> Iterator[RenderableType]:
    if report["baseline"]:
        for line in words.since_baseline(report):
            yield Text(line)


def _findings(report: Report) -> Iterator[RenderableType]:
    costly = [d for d in report["diagnoses"] if d["severity"] != "info"]
    for place, finding in enumerate(costly, 1):
        yield from _finding(place, finding, brief=finding["severity"] == "low")


def _finding(place: int, finding: dict[str, Any], brief: bool) -> Iterator[RenderableType]:
    style = _STYLES[finding["severity"]]
    head = Text.assemble(
        (f"{finding['severity'].upper()} ", style), (words.clean(finding["title"]), "bold")
    )
    numbered = Table.grid(padding=(0, 1))
    numbered.add_row(f"{place}.", head)
    yield numbered
    yield Padding(Text(f"{finding['id']}{_worth(finding)}", style="dim"), (0, 0, 0, 3))
    if brief:
        return
    if finding["explanation"]:
        yield Padding(Text(words.clean(finding["explanation"])), (0, 0, 0, 3))
    for step in finding["next_steps"][:1]:
        yield Padding(Text.assemble(("Next: ", "bold"), words.clean(step)), (0, 0, 0, 3))


def _worth(finding: dict[str, Any]) -> str:
    told = words.worth_and_share(finding)
    return f", {told}" if told else ""


def _budget_title(report: Report, budget: dict[str, Any]) -> str:
    gpu = f" on GPU {budget['device']}" if len(report["trace"]["devices"]) > 1 else ""
    if not budget["iterations"]:
        return f"Where an iteration's time goes{gpu}"
    total, over = words.ms(budget["total_ms"]), words.plural(budget["iterations"], "iteration")
    return f"Where an ordinary iteration's {total} ms go{gpu} (mean of {over})"


def _budget(budget: dict[str, Any], width: int) -> Iterator[RenderableType]:
    if not budget["iterations"]:
        yield from (Text(words.part_name(part)) for part in budget["parts"])
        return
    table = _table(("", "left"), ("ms", "right"), ("share", "right"), ("", "left"))
    bar_width = max(10, width - 44)
    total, before = budget["total_ms"], 0.0
    parts = words.ordered_parts(budget)
    # a part too short to be seen in the bar is noise to a reader, unless nothing else is there
    shown = [p for p in parts if p["ms"] >= 0.001 * total][:_SHOWN_PARTS]
    for part in shown:
        start = round(before / total * bar_width)
        before += part["ms"]
        length = max(1, round(before / total * bar_width) - start)
        style = _PART_STYLES.get(part["part"], "")
        bar = Text(
            " " * min(start, bar_width - 1) + ("░" if part["part"] == "idle" else "█") * length,
            style,
        )
        share = words.percent(words.share(part["ms"], total))
        table.add_row(words.part_name(part), words.ms(part["ms"]), share, bar)
    yield table


def _budgets(report: Report, width: int) -> Iterator[RenderableType]:
    """One line a device: the iteration's length, and the shares of the parts that differ most."""
    known = [b for b in report["budget"] if b["iterations"]]
    names = _fitting_parts(known, width)
    table = _table(("", "left"), ("ms", "right"))
    for name in names:
        table.add_column(name, justify="right", max_width=_longest_word(name))
    for budget in known[:_SHOWN_DEVICES]:
        shares = words.part_shares(budget, names)
        device = words.device_name(report, budget["device"])
        table.add_row(device, words.ms(budget["total_ms"]), *shares)
    if known:
        yield table
    if len(known) > _SHOWN_DEVICES:
        yield Text(f"and {len(known) - _SHOWN_DEVICES} more devices", style="dim")


def _fitting_parts(budgets: Sequence[dict[str, Any]], width: int) -> list[str]:
    """As many of the largest parts as there is room for, their names broken between words."""
    for most in range(_SHOWN_PARTS, 1, -1):
        names = words.compared_parts(budgets, most)
        if sum(_longest_word(name) + 2 for name in names) <= width - 20:
            return names
    return words.compared_parts(budgets, 1)


def _longest_word(name: str) -> int:
    return max(5, *map(len, name.split()))


def _iterations(report: Report, width: int) -> Iterator[RenderableType]:
    found = report["iterations"]
    if not found["period_ms"]["n"]:
        return
    table = _table(
        ("ms", "left"), *((h, "right") for h in ("median", "min", "p90", "max", "stdev", "n"))
    )
    for label, key in (("period", "period_ms"), ("gap to the next", "gap_ms")):
        s = found[key]
        cells = [words.ms(s[k]) for k in ("median", "min", "p90", "max", "stdev")]
        table.add_row(label, *cells, str(s["n"]))
    yield table
    first = report["trace"]["devices"][0]["device"] if report["trace"]["devices"] else None
    periods = [r["period_ms"] for r in found["rows"] if r["device"] == first and r["period_ms"]]
    if len(periods) > 2:
        line = words.sparkline(periods, min(60, width - 24))
        yield Text(f"each period, from 0   {line}")


def _ranks(report: Report) -> Iterator[RenderableType]:
    if not report["ranks"]:
        return
    heads = ("period", "busy", "compute", "exposed", "waits", "costs", "last")
    table = _table(("median ms", "left"), *((h, "right") for h in heads))
    for row in report["ranks"][:_SHOWN_RANKS]:
        keys = ("period_ms", "busy_ms", "compute_ms", "exposed_ms", "wait_ms", "lost_ms")
        last = None if row["last_pct"] is None else row["last_pct"] / 100
        name = f"GPU {row['device']}" if row["rank"] is None else f"rank {row['rank']}"
        table.add_row(name, *(words.ms(row[k]) for k in keys), words.percent(last))
    yield table
    yield Text(
        "exposed: in collectives that no compute hides; waits: for other ranks; costs: what the "
        "run loses by its lateness, less what it waits itself; last: collectives it came last to",
        style="dim",
    )
    yield Text(words.clocks(report["ranks"]), style="dim")


def _phases(report: Report) -> Iterator[RenderableType]:
    if not report["phases"]:
        return
    heads = ["GPU ms", "busy", "CPU ms", "kernels", "mean µs", "times"]
    sides = *((h, "right") for h in heads), ("verdict", "left")
    table = _table(("median", "left"), *sides)
    for phase in report["phases"][:_SHOWN_PHASES]:
        span, busy = phase["gpu_span_ms"]["median"], phase["gpu_busy_ms"]["median"]
        table.add_row(
            words.clean(phase["phase"]), words.ms(span), words.percent(words.share(busy, span)),
            words.ms(phase["cpu_ms"]["median"]), words.count(phase["kernels_per_instance"]),
            words.us(phase["mean_kernel_us"]), words.count(phase["instances"]),
            phase["verdict"] or words.MISSING,
        )  # fmt: skip
    yield table
    ratio, optimizer = report["ratios"]["backward_over_forward"], report["optimizer"]
    if ratio is not None:
        yield Text(f"backward takes {ratio:.2f} times as long as forward", style="dim")
    if optimizer:
        yield Text(
            f"optimizer: {words.count(optimizer['kernels_per_iteration'])} kernels an iteration, "
            f"{words.ms(optimizer['kernels_per_ms'])} a millisecond",
            style="dim",
        )


def _kernels(report: Report, width: int) -> Iterator[RenderableType]:
    if not report["kernels"]:
        return
    heads = ("share", "total ms", "times", "mean µs")
    table = _table(*((h, "right") for h in heads), ("name", "left"))
    for kernel in report["kernels"][:_SHOWN_KERNELS]:
        share = None if kernel["share_pct"] is None else kernel["share_pct"] / 100
        table.add_row(
            words.percent(share), words.ms(kernel["total_ms"]), words.count(kernel["instances"]),
            words.us(kernel["mean_us"]),
            _shortened(kernel["short_name"] or kernel["name"], width - 38),
        )  # fmt: skip
    yield table


def _operators(report: Report, width: int) -> Iterator[RenderableType]:
    if not report["operators"]:
        return
    heads = ("own GPU ms", "GPU ms", "own CPU ms", "CPU ms", "calls")
    table = _table(*((h, "right") for h in heads), ("name", "left"))
    for row in report["operators"][:_SHOWN_OPERATORS]:
        times = (row[key] for key in ("self_gpu_ms", "gpu_ms", "self_cpu_ms", "cpu_ms"))
        name = _shortened(row["name"], width - 51)
        table.add_row(*map(words.ms, times), words.count(row["calls"]), name)
    yield table


def _memory(report: Report) -> Iterator[RenderableType]:
    for row in report["memory"]:
        since = "" if row["is_absolute"] else " more than when the recording began"
        text = f"GPU {row['device']}: at most {words.count(round(row['peak_mb']))} MB held{since}"
        if row["allocations_per_iteration"] is not None:
            churn = words.count(round(row["allocated_mb_per_iteration"]))
            times = words.count(round(row["allocations_per_iteration"]))
            text += f"; {times} allocations an iteration take {churn} MB"
        if row["growth_mb_per_iteration"]:
            text += f", and what is held changes by {row['growth_mb_per_iteration']:+.3g} MB"
        yield Text(text)


def _facts(report: Report) -> Iterator[RenderableType]:
    for finding in report["diagnoses"]:
        if finding["severity"] == "info":
            text = Text.assemble(words.clean(finding["title"]), (f" ({finding['id']})", "dim"))
            yield text


def _coverage(report: Report) -> Iterator[RenderableType]:
    coverage = report["coverage"]
    total = sum(coverage["attribution"].values())
    if total:
        shares = [
            f"{words.percent(n / total)} {'to no phase' if m == 'none' else m.replace('_', ' ')}"
            for m, n in coverage["attribution"].items()
            if n
        ]
        unlinked = (
            f"; {words.plural(coverage['unlinked'], 'operation')} without a launch"
            if coverage["unlinked"]
            else ""
        )
        line = (
            f"{words.plural(total, 'GPU operation')} given to phases: {', '.join(shares)}{unlinked}"
        )
        yield Text(line, style="dim")
    for warning in coverage["warnings"]:
        text = Text.assemble(
            (f"{warning['code']}: ", _STYLES.get(warning["severity"], "")),
            words.clean(warning["message"]), " ", (words.clean(warning["advice"]), "dim"),
        )  # fmt: skip
        yield text


def _not_checked(report: Report) -> Iterator[RenderableType]:
    by_reason: dict[str, list[str]] = {}
    for missed in report["not_checked"]:
        by_reason.setdefault(words.clean(missed["reason"]), []).append(missed["id"])
    for reason, ids in by_reason.items():
        yield Text(f"{', '.join(ids)}: {reason}", style="dim")


def _foot(report: Report, run: Sequence[str], width: int) -> Iterator[RenderableType]:
    if report["diagnoses"]:
        command = f"tracelens explain {report['diagnoses'][0]['id']}"
        names = shlex.join(words.clean(name) for name in run)
        # a shell takes these as they are, which it would not if they were wrapped
        forms = (f"  {command} {names}", f"  {command} \\\n    {names}", f"  {command} RUN...")
        fits = (f for f in forms if max(map(len, f.splitlines())) <= width)
        yield Text(f"\nThe numbers behind a finding:\n{next(fits, forms[-1])}", style="dim")


def _shortened(name: str, width: int) -> str:
    """A name, its middle left out where it is long: both its ends tell kernels apart."""
    name, half = words.clean(name), max(8, width - 1) // 2
    return name if len(name) <= 2 * half + 1 else f"{name[:half]}…{name[-half:]}"


def _table(*columns: tuple[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim", expand=False)
    for title, side in columns:
        table.add_column(title, justify=side, no_wrap=True, overflow="ellipsis")
    return table
