"""Feel against contact: every candidate as a point, the front, and the one that was chosen."""

from __future__ import annotations

from pathlib import Path

from ur_admittance.rollout.touch import RIPPLE
from ur_admittance.tune.choose import FARTHEST, Judged, Tuned, front
from ur_admittance.tune.judge import REACH, wished

_MOST = 100.0  # N rms, the top of the picture


def draw(tuned: Tuned, out: Path) -> None:
    """Write the picture (PNG)."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    question = tuned.question
    unit = 1.0 if question.wish.speed else 1e3
    ideal = wished(question) * unit
    figure, axes = plt.subplots(figsize=(9, 6.5), constrained_layout=True)
    axes.axvspan(ideal / FARTHEST, ideal * FARTHEST, color="0.95", zorder=0)
    axes.axvline(ideal, color="0.5", linestyle=":", label="as wished")
    axes.axhline(RIPPLE, color="tab:red", linewidth=1, label=f"chatter: {RIPPLE:g} N rms")
    damped = [one for one in tuned.swept if one.candidate.damping_time is not None]
    fixed = [one for one in tuned.swept if one.candidate.damping_time is None]
    for some, marker, name in ((fixed, "x", "fixed gains"), (damped, "o", "contact damping")):
        if some:
            dots = axes.scatter(
                [one.feel * unit for one in some],
                [_height(one) for one in some],
                c=[one.verdict.calm / one.verdict.cases for one in some],
                cmap="RdYlGn",
                vmin=0.5,
                vmax=1.0,
                marker=marker,
                s=36,
                linewidths=1.5 if marker == "x" else 0.5,
                edgecolors=None if marker == "x" else "0.3",
                label=name,
                zorder=2,
            )
            if marker == "o":
                figure.colorbar(dots, ax=axes, label="share of calm touches", extend="min")
    best = sorted(front(tuned.swept), key=lambda one: one.feel)
    axes.plot([one.feel * unit for one in best], [_height(one) for one in best], color="0.3",
              linewidth=1, label="nothing is better in both", zorder=1)  # fmt: skip
    mark = "chosen" if tuned.chosen is not None else "nearest, but not good enough"
    axes.scatter(tuned.nearest.feel * unit, _height(tuned.nearest), marker="*", s=320,
                 color="tab:blue", edgecolors="white", label=mark, zorder=3)  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = [ideal * share for share in (0.5, 0.7, 1.0, 1.4, 2.0)]
    axes.set_xticks(ticks, [f"{tick:.2g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    way = f"time in which {question.push:g} N lead the tool by {REACH:g} m [s]"
    axes.set_xlabel(way if question.wish.speed else f"way under {question.push:g} N [mm]")
    axes.set_ylabel(f"worst ripple of the force [N rms]; {_MOST:g}: or stopped")
    axes.set_title(f"{question.in_words()}\n{mark}: {tuned.nearest.candidate.in_words()}")
    figure.legend(loc="outside lower center", ncols=3, fontsize=8)
    figure.savefig(out, dpi=110)
    plt.close(figure)


def _height(one: Judged) -> float:
    return min(one.verdict.ripple, _MOST)
