// Small charts in SVG: axes with round numbers, lines with gaps, one class per kind of mark so that CSS colours them.

const SVG = "http://www.w3.org/2000/svg";

function make(tag, attributes = {}, text = null) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== null) element.textContent = text;
  return element;
}

function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999);
  const values = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) values.push(+(k * step).toPrecision(6));
  return values;
}

class Chart {
  constructor(svg, options) {
    Object.assign(this, {svg, margin: {left: 46, right: 12, top: 10, bottom: 34}, ...options});
    this.render = () => {};
    // The size is read when it changes, not when a curve does: reading it makes the browser lay out the page at once.
    this.measure();
    new ResizeObserver(() => { this.measure(); this.draw(); }).observe(svg);
  }

  measure() {
    this.width = this.svg.clientWidth || 320;
    this.height = this.svg.clientHeight || 190;
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
  }

  draw(render = this.render) {
    this.render = render;
    this.svg.replaceChildren();
    render(this);
  }

  x(value) { const {left, right} = this.margin; return left + (value - this.range.x[0]) / (this.range.x[1] - this.range.x[0]) * (this.width - left - right); }
  y(value) { const {top, bottom} = this.margin; return this.height - bottom - (value - this.range.y[0]) / (this.range.y[1] - this.range.y[0]) * (this.height - top - bottom); }
  frequency(pixel) { const {left, right} = this.margin; return this.range.x[0] + (pixel - left) / (this.width - left - right) * (this.range.x[1] - this.range.x[0]); }
  gain(pixel) { const {top, bottom} = this.margin; return this.range.y[0] + (this.height - bottom - pixel) / (this.height - top - bottom) * (this.range.y[1] - this.range.y[0]); }

  add(tag, attributes, text) { const element = make(tag, attributes, text); this.svg.append(element); return element; }

  axes(x, y, xLabel, yLabel, format = (value) => String(value)) {
    this.range = {x, y};
    const {left, bottom, top, right} = this.margin;
    for (const value of ticks(...x, this.width < 420 ? 4 : 8)) {
      this.add("path", {class: "axis", d: `M${this.x(value)} ${top}V${this.height - bottom}`});
      this.add("text", {x: this.x(value), y: this.height - bottom + 14, "text-anchor": "middle"}, String(value));
    }
    for (const value of ticks(...y, this.height < 220 ? 4 : 6)) {
      this.add("path", {class: "axis", d: `M${left} ${this.y(value)}H${this.width - right}`});
      this.add("text", {x: left - 6, y: this.y(value) + 4, "text-anchor": "end"}, format(value));
    }
    this.add("text", {x: (left + this.width - right) / 2, y: this.height - 4, "text-anchor": "middle"}, xLabel);
    if (yLabel) this.add("text", {x: 12, y: (top + this.height - bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(top + this.height - bottom) / 2})`}, yLabel);
  }

  line(xs, ys, name) {
    let path = "", pen = false;
    const [low, high] = this.range.y, room = high - low;
    xs.forEach((x, k) => {
      const value = ys[k];
      if (value === null || value === undefined) { pen = false; return; }
      const held = Math.min(Math.max(value, low - room), high + room);
      path += `${pen ? "L" : "M"}${this.x(x).toFixed(2)} ${this.y(held).toFixed(2)}`;
      pen = true;
    });
    return this.add("path", {class: `line ${name}`, d: path});
  }

  rectangle(x0, x1, y0, y1, name) {
    const left = Math.max(this.x(x0), this.margin.left), right = Math.min(this.x(x1), this.width - this.margin.right);
    this.add("rect", {class: `fill ${name}`, x: left, width: Math.max(0, right - left), y: this.y(y1), height: Math.max(0, this.y(y0) - this.y(y1))});
  }

  message(text) {
    const words = text.split(" "), lines = [""];
    for (const word of words) {
      if ((lines.at(-1) + word).length * 6.6 > this.width - 40) lines.push("");
      lines[lines.length - 1] += word + " ";
    }
    lines.forEach((line, k) => this.add("text", {class: "bad", x: this.width / 2, y: this.height / 2 + 17 * (k - (lines.length - 1) / 2), "text-anchor": "middle"}, line));
  }
}

function span(values, least, most) {
  const known = values.filter((value) => value !== null);
  return [Math.max(Math.min(...known, least[0]), most[0]), Math.min(Math.max(...known, least[1]), most[1])];
}

function feedback(chart, filter) {
  chart.axes(filter.interval, span(filter.feedback, [-1, 1], [-4, 4]), "frequency", "P");
  for (const sign of [-1, 1]) {
    if (filter.bound) chart.line(filter.interval, [sign * filter.bound, sign * filter.bound], "bound");
  }
  chart.line(filter.frequency, filter.feedback, "realised");
}

function poles(chart, filter) {
  const [low, high] = filter.interval;
  const reals = filter.poles.map((pole) => pole[0]), imaginary = filter.poles.map((pole) => pole[1]);
  const reach = Math.min(Math.max(0.5, ...imaginary.map(Math.abs)) * 1.15, 6);
  chart.axes([Math.max(Math.min(low, ...reals), -4) - 0.25, Math.min(Math.max(high, ...reals), 6) + 0.25], [-reach, reach], "real part", "imaginary part");
  chart.line([low, high], [0, 0], "span");
  for (const [real, imag] of filter.poles) {
    const x = chart.x(real), y = chart.y(imag), inside = imag === 0 && real >= low && real <= high;
    chart.add("path", {class: `mark pole${inside ? " inside" : ""}`, d: `M${x - 5} ${y - 5}l10 10m0 -10l-10 10`});
  }
}

function convergence(chart, filter, measured) {
  if (!filter.predicted.length) return chart.message(filter.certificate.pole_inside ? "The recursion diverges: there is a pole in the interval." : "The recursion diverges: |P| reaches 1 or more.");
  const logs = (values) => values.map((value) => value > 0 ? Math.max(Math.log10(value), -9) : null);
  const steps = filter.predicted.map((_, k) => k), bound = logs(filter.predicted);
  const last = Math.max(5, bound.findIndex((value) => value <= -8.5) + 1 || steps.length);
  chart.axes([0, last], [-8, 1], "iterations", "error", (value) => `1e${value}`);
  const cut = (values) => values.slice(0, last + 1).map((value) => value === null || value < -8 ? null : value);
  chart.line(steps, cut(bound), "wanted");
  if (measured?.length) chart.line(steps, cut(logs(measured)), "realised");
}

const WAYS = {recursion: "recursion", cg: "conjugate gradients", chebyshev: "Chebyshev expansion"};

function products(chart, costs, chosen) {
  const entries = Object.entries(costs), most = Math.max(1, ...entries.map(([, cost]) => typeof cost === "number" ? cost : 0));
  const step = (chart.height - 12) / entries.length;
  entries.forEach(([name, cost], k) => {
    const y = 6 + k * step;
    const label = WAYS[name] || name;
    chart.add("text", {class: "strong", x: 10, y: y + 15}, label + (name === chosen ? " (chosen)" : ""));
    if (typeof cost === "number") {
      const width = Math.max(2, (chart.width - 90) * cost / most);
      chart.add("rect", {class: `fill bar${name === chosen ? "" : " other"}`, x: 10, y: y + 21, width, height: Math.max(6, step - 34)});
      chart.add("text", {class: "strong", x: 16 + width, y: y + 21 + Math.max(6, step - 34) / 2 + 4}, String(cost));
    } else chart.add("text", {class: "bad", x: 10, y: y + 33}, cost.length > 64 ? cost.slice(0, 62) + "…" : cost);
  });
}

export {Chart, convergence, feedback, make, poles, products, span};
