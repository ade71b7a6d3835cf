// A signal on a graph: one path for all edges, one dot per node, coloured by a scale that every eye can read.

import {make} from "./charts.js";

// Seven colours of cividis (Nuñez, Anderton and Renslow, 2018), dark to light.
const CIVIDIS = [[0, 34, 78], [33, 61, 109], [79, 87, 110], [124, 123, 120], [165, 156, 116], [212, 195, 86], [254, 232, 56]];

function colour(share) {
  const at = Math.min(Math.max(share, 0), 1) * (CIVIDIS.length - 1), k = Math.min(Math.floor(at), CIVIDIS.length - 2);
  return `rgb(${CIVIDIS[k].map((low, c) => Math.round(low + (at - k) * (CIVIDIS[k + 1][c] - low))).join(" ")})`;
}

class Network {
  constructor(svg, tell) {
    Object.assign(this, {svg, tell, dots: [], values: []});
    svg.addEventListener("pointerover", (event) => {
      const k = this.dots.indexOf(event.target);
      this.tell(k < 0 ? "" : `node ${k}: ${this.values[k]?.toFixed(3)}`);
    });
  }

  place(scene) {
    const [x, y] = scene.places, width = Math.max(...x), height = Math.max(...y);
    const size = Math.min(0.02, 0.32 / Math.sqrt(x.length));
    this.svg.setAttribute("viewBox", `${-2 * size} ${-2 * size} ${width + 4 * size} ${height + 4 * size}`);
    let path = "";
    for (let k = 0; k < scene.links.length; k += 2) {
      const [a, b] = [scene.links[k], scene.links[k + 1]];
      path += `M${x[a]} ${(height - y[a]).toFixed(4)}L${x[b]} ${(height - y[b]).toFixed(4)}`;
    }
    const edges = make("path", {d: path});
    this.dots = x.map((value, k) => make("circle", {cx: value, cy: (height - y[k]).toFixed(4), r: size.toFixed(4)}));
    this.svg.replaceChildren(edges, ...this.dots);
    this.shades = [];
  }

  paint(values, [low, high]) {
    this.values = values;
    values.forEach((value, k) => {
      // Two decimals of a share are finer than the eye: a dot whose colour stays is not touched.
      const shade = Math.round(100 * (value - low) / (high - low || 1));
      if (shade !== this.shades[k]) { this.dots[k].style.fill = colour(shade / 100); this.shades[k] = shade; }
    });
  }
}

function scale(svg) {
  svg.replaceChildren(...Array.from({length: 50}, (_, k) => make("rect", {x: 2 * k, width: 2.2, y: 0, height: 10, fill: colour((k + 0.5) / 50)})));
}

export {Network, scale};
