// The response that is wanted, as something to take hold of: every handle is a slider for pointer and keyboard alike.

import {Chart, span} from "./charts.js";

const KNOTS = 21;
const round = (value, step = 0.01) => +(Math.round(value / step) * step).toFixed(4);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

const RESPONSES = {
  low_pass: (s) => (f) => (f < s.cut ? 1 : 0),
  high_pass: (s) => (f) => (f >= s.cut ? 1 : 0),
  band_pass: (s) => (f) => (f >= s.low && f < s.high ? 1 : 0),
  heat: (s) => (f) => Math.exp(-s.time * f),
  pagerank: (s) => (f) => s.restart / (s.restart + (1 - s.restart) * f),
  interpolated: (s) => (f) => {
    const k = clamp(s.frequencies.findIndex((at) => at > f) - 1, 0, s.frequencies.length - 2);
    if (f >= s.frequencies.at(-1)) return s.gains.at(-1);
    const share = clamp((f - s.frequencies[k]) / (s.frequencies[k + 1] - s.frequencies[k]), 0, 1);
    return s.gains[k] + share * (s.gains[k + 1] - s.gains[k]);
  },
};

const jumps = (s) => ({low_pass: [s.cut], high_pass: [s.cut], band_pass: [s.low, s.high]})[s.response] || [];

// Each handle: where it is, what it is called, its limits, and what moving it to a frequency (or gain) sets.
function handles(s) {
  const at = (name, label, value, low, high, set, y = 0.5) => ({name, label, x: value, y, value, low, high, set});
  const edge = (cut) => at("transition", "edge of the transition band", cut + s.transition, cut, cut + 0.4, (f) => ({transition: round(clamp(f - cut, 0, 0.4))}), 0.15);
  if (s.response === "band_pass") {
    return [at("low", "lower edge of the band", s.low, 0.05, s.high - 0.05, (f) => ({low: round(clamp(f, 0.05, s.high - 0.05))})),
      at("high", "upper edge of the band", s.high, s.low + 0.05, 1.95, (f) => ({high: round(clamp(f, s.low + 0.05, 1.95))})), edge(s.high)];
  }
  if (s.response === "heat") {
    return [at("time", "frequency of half gain", Math.LN2 / s.time, 0.035, 2, (f) => ({time: round(clamp(Math.LN2 / Math.max(f, 0.02), 0.2, 20), 0.1)}))];
  }
  if (s.response === "pagerank") {
    return [at("restart", "frequency of half gain", s.restart / (1 - s.restart), 0.02, 2, (f) => ({restart: round(clamp(f / (1 + f), 0.02, 0.9))}))];
  }
  if (s.response === "interpolated") {
    return s.frequencies.map((f, k) => ({name: `gain-${k}`, label: `gain at frequency ${f}`, x: f, y: s.gains[k], value: s.gains[k], low: -0.5, high: 1.5, vertical: true,
      set: (gain) => ({gains: s.gains.map((old, j) => (j === k ? round(clamp(gain, -0.5, 1.5)) : old))})}));
  }
  return [at("cut", "cut-off frequency", s.cut, 0.05, 1.95, (f) => ({cut: round(clamp(f, 0.05, 1.95))})), edge(s.cut)];
}

class Editor {
  // change(update, final) is called with the settings that a drag or a key sets; final when it is let go.
  constructor(svg, change) {
    this.chart = new Chart(svg, {});
    this.change = change;
    this.held = null;
    svg.addEventListener("pointerdown", (event) => this.take(event));
    svg.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) svg.addEventListener(name, () => this.let_go());
    svg.addEventListener("keydown", (event) => this.key(event));
  }

  draw(settings, filter, density) {
    Object.assign(this, {settings, filter, density});
    const focused = document.activeElement?.dataset?.handle;
    this.chart.draw((chart) => this.paint(chart));
    if (focused) this.chart.svg.querySelector(`[data-handle="${focused}"]`)?.focus();
  }

  paint(chart) {
    const {settings, filter, density} = this;
    if (!settings) return;
    const wanted = RESPONSES[settings.response](settings);
    const grid = Array.from({length: 401}, (_, k) => k / 200);
    const range = span([...(filter?.response || []), ...grid.map(wanted)], [-0.15, 1.15], [-1, 2.5]);
    chart.axes([0, 2], range, "frequency", "gain");
    if (density) {
      const top = Math.max(...density), room = (range[1] - range[0]) * 0.45;
      density.forEach((weight, k) => chart.rectangle(2 * k / density.length, 2 * (k + 1) / density.length, range[0], range[0] + room * weight / top, "density"));
    }
    for (const jump of jumps(settings)) chart.rectangle(jump - settings.transition, jump + settings.transition, ...range, "band");
    chart.line(grid, grid.map(wanted), "wanted");
    if (filter) chart.line(filter.frequency, filter.response, "realised").id = "realised";
    if (settings.interval[1] < 2) chart.line([settings.interval[1], settings.interval[1]], range, "bound");
    for (const handle of handles(settings)) this.handle(chart, handle, range);
  }

  handle(chart, handle, range) {
    const x = chart.x(handle.x), y = chart.y(handle.y);
    const group = chart.add("g", {class: `handle${handle.vertical ? " drawn" : ""}`, tabindex: 0, role: "slider", "aria-label": handle.label,
      "aria-valuemin": handle.low.toFixed(2), "aria-valuemax": handle.high.toFixed(2), "aria-valuenow": handle.value.toFixed(2), "data-handle": handle.name,
      "aria-orientation": handle.vertical ? "vertical" : "horizontal"});
    const piece = (tag, attributes) => { const element = document.createElementNS(group.namespaceURI, tag); for (const [k, v] of Object.entries(attributes)) element.setAttribute(k, v); group.append(element); };
    if (!handle.vertical) piece("line", {x1: x, x2: x, y1: chart.y(range[0]), y2: chart.y(range[1])});
    // A finger needs more than the visible dot.
    piece("circle", {cx: x, cy: y, r: handle.vertical ? 12 : 18, class: "grip"});
    piece("circle", {cx: x, cy: y, r: handle.vertical ? 5 : 8});
  }

  place(event) {
    const box = this.chart.svg.getBoundingClientRect();
    return {x: this.chart.frequency(event.clientX - box.left), y: this.chart.gain(event.clientY - box.top)};
  }

  take(event) {
    const name = event.target.closest(".handle")?.dataset.handle;
    if (!name && this.settings.response !== "interpolated") return;
    this.held = name || "draw";
    this.chart.svg.setPointerCapture(event.pointerId);
    if (name) this.chart.svg.querySelector(`[data-handle="${name}"]`).focus();
    event.preventDefault();
    this.move(event);
  }

  move(event) {
    if (!this.held) return;
    const place = this.place(event);
    if (this.settings.response === "interpolated") {
      // Whatever the pointer passes over takes its height: the target is drawn.
      const k = clamp(Math.round(place.x / 2 * (KNOTS - 1)), 0, this.settings.gains.length - 1);
      return this.change(handles(this.settings)[k].set(place.y), false);
    }
    this.change(handles(this.settings).find((handle) => handle.name === this.held).set(place.x), false);
  }

  let_go() {
    if (!this.held) return;
    this.held = null;
    this.change({}, true);
  }

  key(event) {
    const name = event.target.closest(".handle")?.dataset.handle;
    const steps = {ArrowLeft: -0.01, ArrowDown: -0.01, ArrowRight: 0.01, ArrowUp: 0.01, PageDown: -0.1, PageUp: 0.1};
    if (!name || !(event.key in steps)) return;
    event.preventDefault();
    const handle = handles(this.settings).find((candidate) => candidate.name === name);
    this.change(handle.set(handle.value + steps[event.key] * (handle.vertical ? 5 : 1)), true);
  }
}

export {Editor, KNOTS, jumps};
