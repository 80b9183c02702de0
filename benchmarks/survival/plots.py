"""Results as pictures; matplotlib is imported only here."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from survival.report import Results, sent_by_size
from survival.scores import merged, total

OURS = "#0b6e4f"
OTHERS = ("#c1666b", "#d4a24e", "#4a6fa5", "#7f9bc2", "#8d6a9f", "#b59ac4", "#888888")
DPI = 100
MANY_TOKENS = 60_000


def draw(results: Results, folder: Path) -> list[Path]:
    """Write all pictures that the results have data for; return their paths."""
    import matplotlib as mpl

    mpl.use("Agg")
    made = []
    for name, drawer in (
        ("fidelity-sizes.png", sizes_figure),
        ("fidelity-kinds.png", kinds_figure),
        ("fidelity-rules.png", rules_figure),
    ):
        figure = drawer(results)
        if figure is not None:
            figure.savefig(folder / name, dpi=DPI, bbox_inches="tight")
            made.append(folder / name)
    return made


def sizes_figure(results: Results) -> Any:
    """Draw the share of facts that are still seen against the tokens sent."""
    import matplotlib.pyplot as plt

    engines = sent_by_size(results)
    if not engines["Perdure"]:
        return None
    figure, axis = plt.subplots(figsize=(9, 5))
    for number, (label, entries) in enumerate(engines.items()):
        fitting = [(tokens, 100 * s["share"]) for _, s, tokens in entries if tokens < MANY_TOKENS]
        if not fitting:
            continue
        is_ours = label == "Perdure"
        color = OURS if is_ours else OTHERS[(number - 1) % len(OTHERS)]
        xs, ys = zip(*fitting, strict=True)
        width = 3 if is_ours else 1.6
        axis.plot(xs, ys, marker="o", color=color, linewidth=width, label=label)
    axis.set(xlabel="tokens sent after compaction (median session)", ylim=(0, 100))
    axis.set_ylabel("facts still seen word for word, %")
    axis.set_title("What survives compaction without a model", loc="left", fontweight="bold")
    axis.grid(visible=True, alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9)
    return figure


def kinds_figure(results: Results) -> Any:
    """Draw the share of each kind of fact for every engine, at the middle size."""
    sizes = list(results["perdure"]["handoff"])
    if not sizes:
        return None
    size = "12000" if "12000" in sizes else sizes[len(sizes) // 2]
    engines = {"Perdure": {"sizes": {size: results["perdure"]["handoff"][size]}}}
    table, labels = [], []
    for label, engine in {**engines, **results["peers"]}.items():
        fine = [s for s in engine.get("sizes", {}).get(size, ()) if "error" not in s]
        if fine:
            table.append(merged(s.get("sent", s) for s in fine)["kinds"])
            tokens = statistics.median(s["sent_tokens"] for s in fine)
            labels.append(f"{label}, {tokens / 1000:.0f}k tokens")
    kinds = list(table[0])
    cells = [[100 * found[kind]["share"] for kind in kinds] for found in table]
    title = "Facts still seen, by kind of fact (%)"
    columns = [kind.replace(" ", "\n") + f"\n({table[0][kind]['of']})" for kind in kinds]
    return heat_map(title, labels, columns, cells)


def rules_figure(results: Results) -> Any:
    """Draw which rules Perdure keeps in each language."""
    ours = results["perdure"]
    groups = ("coding, rules alone", "coding, rules inside", "chat, rules inside")
    languages = [one["language"] for one in ours["extractor"]]
    cells = []
    for language, found, replaced in zip(
        languages, ours["extractor"], ours["replaced"], strict=True
    ):
        chosen = [one for one in ours["rules"] if one["language"] == language]
        scores = [
            total(one["kinds"][kind] for one in chosen if one["group"] == group)
            for group in groups
            for kind in ("plain", "people")
        ]
        scores += [found["rules"]["kinds"][kind] for kind in ("plain", "people")]
        scores += [replaced["implicit"], replaced["explicit"]]
        cells.append([100 * score["share"] for score in scores])
    columns = [f"{place}\n{how}" for place in _PLACES for how in ("plain", "as written")]
    columns += ["old value\nunnamed", "old value\nnamed"]
    return heat_map("Rules and replaced values kept by Perdure (%)", languages, columns, cells)


_PLACES = ("coding,\nalone,", "coding,\ninside,", "chat,\ninside,", "extractor\nalone,")


def heat_map(
    title: str, rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[float]]
) -> Any:
    """Draw percentages as coloured cells with their numbers."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(1.5 + 0.95 * len(columns), 1.2 + 0.42 * len(rows)))
    axis.imshow(cells, cmap="YlGn", vmin=0, vmax=100, aspect="auto")
    for y, line in enumerate(cells):
        for x, value in enumerate(line):
            color = "white" if value > 65 else "black"
            axis.text(x, y, f"{value:.0f}", ha="center", va="center", color=color, fontsize=9)
    axis.set_xticks(range(len(columns)), columns, fontsize=8)
    axis.set_yticks(range(len(rows)), rows, fontsize=9)
    axis.tick_params(length=0, labeltop=True, labelbottom=False, top=False)
    axis.spines[:].set_visible(False)
    axis.set_title(title, loc="left", fontweight="bold", pad=14)
    return figure
