// The page: settings on one side, what the server says of them on the other.

import {Chart, convergence, feedback, poles, products} from "./charts.js";
import {Editor, KNOTS} from "./editor.js";
import {Lane, get, post} from "./lanes.js";
import {Network, scale} from "./network.js";

const $ = (id) => document.getElementById(id);
// Which page this is, so that the server can tell its requests from those of another tab.
const PAGE = crypto.randomUUID();
const SLIDERS = ["cut", "low", "high", "time", "restart", "transition", "p", "q", "gamma"];
const settings = {
  response: "low_pass", cut: 0.3, low: 0.4, high: 0.9, time: 3, restart: 0.1, p: 5, q: 3, gamma: 0.9, method: "iterative",
  centre: "middle", interval: [0, 2], transition: 0.1,
  frequencies: Array.from({length: KNOTS}, (_, k) => +(2 * k / (KNOTS - 1)).toFixed(4)),
  gains: Array.from({length: KNOTS}, (_, k) => +Math.exp(-(((2 * k / (KNOTS - 1)) / 0.5) ** 2)).toFixed(2)),
};
const state = {filter: null, applied: null, measured: null, scene: null, sceneName: null, sequence: 0, shown: 0, trips: []};
const charts = {};
for (const name of ["feedback", "poles", "convergence", "products"]) charts[name] = new Chart($(name), {});
const editor = new Editor($("editor"), change);
const tell = (text) => { $("node").textContent = text; };
const networks = {before: new Network($("before"), tell), after: new Network($("after"), tell)};

function say(text, bad = false) { $("status").textContent = text; $("status").classList.toggle("bad", bad); }
const short = (value, digits = 3) => value === null || value === undefined ? "–" : Math.abs(value) >= 1e-4 || value === 0 ? String(+value.toPrecision(digits)) : value.toExponential(1);

// Quick answers while something is dragged, and the chosen design when it is let go: each kind has a lane of its own, and an
// answer to older settings than those shown is dropped.
const complain = (error) => say(error.message, true);
function show(filter, {sequence, final, dragged, asked}) {
  if (sequence < state.shown || (sequence === state.shown && !final)) return;
  state.shown = sequence;
  state.filter = filter;
  document.body.classList.toggle("preview", !final);
  showFilter(final);
  apply(final);
  if (final) document.body.dataset.done = sequence;
  if (dragged) time(performance.now() - asked);
}
const previews = new Lane("design", show, complain);
const finals = new Lane("design", show, complain);

function time(trip) {
  state.trips = [...state.trips, trip].slice(-51);
  const median = [...state.trips].sort((a, b) => a - b)[Math.floor(state.trips.length / 2)];
  $("timing").textContent = `A drag is answered in ${median.toFixed(0)} ms (median of ${state.trips.length}).`;
  document.body.dataset.trip = median.toFixed(1);
}

const applications = new Lane("apply", (applied, {final}) => {
  state.applied = applied;
  if (final) state.measured = applied.measured;
  showSignal();
}, (error) => {
  state.applied = null;
  say(error.message, true);
  charts.products.draw((chart) => chart.message(error.message));
});

function change(update, final) {
  Object.assign(settings, update);
  showSettings();
  editor.draw(settings, state.filter, state.scene?.density);
  const sequence = ++state.sequence, asked = {...settings, sequence, page: PAGE};
  finals.cancel();
  if (final) {
    say("Designing …");
    finals.ask(asked, {sequence, final: true});
  }
  if (!final || ["iterative", "minimax"].includes(asked.method)) {
    const centre = asked.centre === "free" ? "middle" : asked.centre;
    previews.ask({...asked, method: "refit", centre}, {sequence, final: false, dragged: !final});
  }
}

function apply(final) {
  if (!state.filter || !state.sceneName) return;
  const {psi, phi, centre, interval} = state.filter;
  applications.ask({scene: state.sceneName, noise: +$("noise").value, psi, phi, centre, interval, final}, {final});
}

function showFilter(final) {
  const {filter} = state;
  if (!final) state.measured = null;
  editor.draw(settings, filter, state.scene?.density);
  charts.feedback.draw((chart) => feedback(chart, filter));
  charts.poles.draw((chart) => poles(chart, filter));
  charts.convergence.draw((chart) => convergence(chart, filter, state.measured));
  showBadge(filter.certificate);
  if (!final) return;
  say("");
  $("python").textContent = filter.python;
  $("command").textContent = filter.command;
  $("coefficients").textContent = `centre = ${filter.centre}\npsi = [${filter.psi.join(", ")}]\nphi = [${filter.phi.join(", ")}]`;
}

function showBadge(proved) {
  const errors = proved.errors || {}, [low, high] = state.filter.interval;
  const good = proved.stable && !proved.pole_inside;
  const title = good ? "✓ Certified stable" : proved.pole_inside ? "✗ A pole lies in the interval" : "✗ The recursion diverges";
  const rows = [["largest |P|", short(proved.contraction, 4)], ["nearest pole", `${short(proved.pole_margin)} away`], ["largest gain", short(proved.gain)],
    ["largest error", short(errors.largest)], ["root mean square", short(errors.rms)]];
  if (errors.pass !== null && errors.pass !== undefined) rows.push(["pass / stop ripple", `${short(errors.pass)} / ${short(errors.stop)}`]);
  const badge = $("badge"), list = document.createElement("dl"), strong = document.createElement("strong");
  strong.textContent = title;
  for (const [term, text] of rows) {
    const cell = document.createElement("div");
    cell.append(Object.assign(document.createElement("dt"), {textContent: term}), Object.assign(document.createElement("dd"), {textContent: text}));
    list.append(cell);
  }
  badge.classList.toggle("bad", !good);
  badge.replaceChildren(strong, ` for every graph with frequencies in [${short(low, 4)}, ${short(high, 4)}].`, list);
}

function showSignal() {
  const {applied, scene, filter} = state;
  if (!applied || !scene) return;
  const range = [Math.min(...scene.signal), Math.max(...scene.signal)];
  networks.before.paint(applied.before, range);
  networks.after.paint(applied.after, range);
  const noisy = +$("noise").value > 0, percent = (value) => value === null ? "–" : `${(100 * value).toFixed(0)} %`;
  $("before-caption").textContent = noisy ? `Before: ${percent(applied.error_before)} away from the signal without noise` : "Before";
  $("after-caption").textContent = noisy ? `After: ${percent(applied.error_after)} away (${applied.products} products)` : `After (${applied.products} products)`;
  charts.products.draw((chart) => products(chart, applied.costs, applied.method));
  charts.convergence.draw((chart) => convergence(chart, filter, state.measured));
  $("scale-low").textContent = short(range[0]);
  $("scale-high").textContent = short(range[1]);
}

function showSettings() {
  for (const name of SLIDERS) {
    $(name).value = settings[name];
    $(name).closest("label").querySelector("output").textContent = settings[name];
  }
  for (const name of ["response", "method"]) $(name).value = settings[name];
  for (const label of document.querySelectorAll("[data-for]")) label.hidden = !label.dataset.for.split(" ").includes(settings.response);
  const number = typeof settings.centre === "number";
  $("centre-kind").value = number ? "number" : settings.centre;
  $("centre-label").hidden = !number;
  if (number) { $("centre").value = settings.centre; $("centre-label").querySelector("output").textContent = settings.centre; }
  const kind = settings.interval[1] === 2 ? "all" : settings.interval[1] === state.scene?.interval[1] ? "graph" : "number";
  if ($("interval-kind").value !== "number" || kind === "all") $("interval-kind").value = kind;
  $("top-label").hidden = $("interval-kind").value !== "number";
  $("top").value = settings.interval[1];
  $("top-label").querySelector("output").textContent = short(settings.interval[1], 4);
}

async function chooseScene(name) {
  say("Drawing the graph …");
  try { state.scene = await get(`graph/${encodeURIComponent(name)}`); } catch (error) { return say(error.message, true); }
  const {scene} = state;
  state.sceneName = name;
  $("noise").value = scene.noise;
  $("noise").closest("label").querySelector("output").textContent = scene.noise;
  const part = scene.places[0].length < scene.nodes ? `, ${scene.places[0].length} of them drawn` : "";
  $("scene-note").textContent = `${scene.nodes} nodes${part}, ${scene.edges} edges; frequencies from 0 to ${short(scene.interval[1], 4)} (${scene.certainty}).`;
  for (const network of Object.values(networks)) network.place(scene);
  if ($("interval-kind").value === "graph") settings.interval = [...scene.interval];
  change({}, true);
}

for (const name of SLIDERS) {
  const read = () => ({[name]: +$(name).value});
  $(name).addEventListener("input", () => change(read(), false));
  $(name).addEventListener("change", () => change(read(), true));
}
for (const name of ["response", "method"]) $(name).addEventListener("change", () => {
  const update = {[name]: $(name).value};
  if (name === "method" && $(name).value !== "minimax" && settings.centre === "free") update.centre = "middle";
  change(update, true);
});
$("centre-kind").addEventListener("change", () => {
  const kind = $("centre-kind").value;
  change({centre: kind === "number" ? (settings.interval[0] + settings.interval[1]) / 2 : kind, ...(kind === "free" ? {method: "minimax"} : {})}, true);
});
$("interval-kind").addEventListener("change", () => {
  const kind = $("interval-kind").value;
  change({interval: kind === "all" ? [0, 2] : kind === "graph" ? [...state.scene.interval] : [0, settings.interval[1]]}, true);
});
for (const [id, update] of [["centre", (value) => ({centre: value})], ["top", (value) => ({interval: [0, value]})]]) {
  $(id).addEventListener("input", () => change(update(+$(id).value), false));
  $(id).addEventListener("change", () => change(update(+$(id).value), true));
}
$("noise").addEventListener("input", () => { $("noise").closest("label").querySelector("output").textContent = $("noise").value; apply(false); });
$("noise").addEventListener("change", () => apply(true));
$("scene").addEventListener("change", () => chooseScene($("scene").value));

for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", async () => {
  await navigator.clipboard.writeText($(button.dataset.copy).textContent);
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
});
$("save").addEventListener("click", async () => {
  try {
    const content = await post("save", settings);
    const link = Object.assign(document.createElement("a"), {download: "filter.json", href: URL.createObjectURL(new Blob([JSON.stringify(content, null, 2)], {type: "application/json"}))});
    link.click();
    URL.revokeObjectURL(link.href);
    say("Saved as filter.json.");
  } catch (error) { say(error.message, true); }
});
$("open").addEventListener("change", async () => {
  try {
    const opened = await post("open", JSON.parse(await $("open").files[0].text()));
    change(opened.settings, true);
  } catch (error) { say(error instanceof SyntaxError ? "This file is not JSON: choose a filter that was saved." : error.message, true); }
  $("open").value = "";
});

function theme(name) {
  document.documentElement.dataset.theme = name;
  $("theme").textContent = name === "dark" ? "Light" : "Dark";
}
$("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

const TITLES = {own: "your file", sensors: "sensor network (made up)", roads: "road network (made up)", photograph: "photograph as a grid"};
scale($("scale"));
change({}, false);
get("graph").then(({names}) => {
  $("scene").replaceChildren(...names.map((name) => Object.assign(document.createElement("option"), {value: name, textContent: TITLES[name] || name})));
  return chooseScene(names[0]);
}).catch((error) => say(error.message, true));
