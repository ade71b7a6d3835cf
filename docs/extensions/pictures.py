"""The pictures of the README and the first page, made from real runs.

    python docs/extensions/pictures.py

`results.png` shows the committed accuracies of `results/summary.csv`. `hero.png` is a noisy signal, the response of a
filter with its certificate, and the signal after it. `studio.png` is the studio in a browser, where Chromium and its
driver are installed.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import dfnets
from dfnets.plots import BLUE, RED
from dfnets.plots.filters import response_axes
from dfnets.plots.graphs import draw_signal

FOLDER = Path(__file__).parents[1]


def hero(path: Path) -> None:
    """Noisy signal, certified filter, clean signal."""
    graph = dfnets.builders.sensor(700, seed=1)
    assert graph.coordinates is not None
    x, y = graph.coordinates.T
    field = np.sin(5 * x) + np.cos(6 * y)
    noisy = field + np.random.default_rng(0).normal(0, 0.8, len(x))
    f = dfnets.design(dfnets.responses.low_pass(0.2), p=5, q=3, gamma=0.9, method="iterative")
    clean = f.apply(graph, noisy)
    before, after = (np.linalg.norm(signal - field) / np.linalg.norm(field) for signal in (noisy, clean))
    figure = Figure(figsize=(13, 4.3), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=[1, 1.25, 1])
    limits = (float(field.min()), float(field.max()))
    draw_signal(left, graph, graph.coordinates, noisy, *limits)
    draw_signal(right, graph, graph.coordinates, clean, *limits)
    response_axes(middle, f, f.shift_of(graph))
    proved = f.certificate()
    left.set_title(f"a noisy signal on a graph: {100 * before:.0f} % error")
    middle.set_title(f"a filter, proved stable: |P| ≤ {proved.contraction:.3g} on every graph")
    right.set_title(f"after it: {100 * after:.0f} % error")
    figure.savefig(path, dpi=110)


def studio(path: Path) -> None:
    """The studio as it opens, in a headless browser."""
    from selenium import webdriver

    command = [sys.executable, "-c", "from dfnets.cli import main; main()", "studio", "--no-browser"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1400,1340"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(str(shutil.which("chromedriver"))))
    try:
        driver.get(server.stdout.readline().removeprefix("studio: ").strip())
        while not driver.execute_script(
            "return document.body.dataset.done && !!document.querySelector('#before circle')"
        ):
            time.sleep(0.5)
        time.sleep(3)
        driver.save_screenshot(str(path))
    finally:
        driver.quit()
        server.terminate()


def results(path: Path) -> None:
    """The committed accuracies: mean and deviation of each model on each dataset, and what the paper prints."""
    with (FOLDER.parent / "results" / "summary.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    datasets = [name for name in rows[0] if name not in ("model", "settings", "protocol")]
    names = [f"{row['model']}, {row['settings']}, {row['protocol']}" for row in rows]
    figure = Figure(figsize=(13, 0.34 * len(rows) + 1.4), layout="constrained")
    for axes, dataset in zip(figure.subplots(1, len(datasets), sharey=True), datasets, strict=True):
        for k, row in enumerate(rows):
            ours = re.match(r"([\d.]+) ± ([\d.]+)", row[dataset])
            paper = re.search(r"\[([\d.]+)\]", row[dataset])
            if ours:
                mean, deviation = map(float, ours.groups())
                axes.errorbar([mean], [-k], xerr=[deviation], fmt="o", color=BLUE, ms=5, capsize=3)
            if paper:
                axes.plot([float(paper.group(1))], [-k], "D", mfc="none", color=RED, ms=6)
        axes.set(title=dataset, xlabel="test accuracy in percent")
        axes.grid(axis="x", alpha=0.3)
    figure.axes[0].set_yticks([-k for k in range(len(rows))], names)
    figure.axes[0].errorbar([], [], xerr=[], fmt="o", color=BLUE, label="measured here: mean ± deviation over seeds")
    figure.axes[0].plot([], [], "D", mfc="none", color=RED, label="printed in the paper")
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    results(FOLDER / "results.png")
    hero(FOLDER / "hero.png")
    if shutil.which("chromium") and shutil.which("chromedriver"):
        studio(FOLDER / "studio.png")
