// One chart: stacked bars as SVG, the same in words, and what a single step has, for pointer and keyboard.

import { el, replace } from "../core/dom.js";
import { moment } from "../core/format.js";

const height = 100;

function shape(name, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** A bar for each step that has a value, from `bottoms` up; moves `bottoms` to their tops. */
function bars(values, bottoms, greatest) {
  let path = "";
  values.forEach((value, step) => {
    if (!value) return;
    const size = (value / greatest) * height;
    path += `M${step} ${height - bottoms[step]}h1v${-size}h-1z`;
    bottoms[step] += size;
  });
  return path;
}

/**
 * `series` are `{name, tone, values}`, drawn on top of one another; a value is null where nothing is known. `show` puts a
 * value into words, `at` is the time of a step in milliseconds, and `greatest` the value of the full height, if that is
 * fixed.
 */
export function chart({ title, words, series, show, at, greatest, isStrip }) {
  const steps = series[0].values.length;
  const sums = series[0].values.map((_, step) => series.reduce((sum, one) => sum + (one.values[step] ?? 0), 0));
  const top = greatest ?? Math.max(...sums);
  const bottoms = sums.map(() => 0);
  const unknown = bars(series[0].values.map((value) => value === null && 1), sums.map(() => 0), 1);
  const picture = shape(
    "svg",
    { viewBox: `0 0 ${steps} ${height}`, preserveAspectRatio: "none", role: "img", tabindex: 0, "aria-label": `${title}: ${words}` },
    shape("path", { class: "unknown", d: unknown }),
    ...series.map(({ tone, values }) => shape("path", { class: tone, d: bars(values, bottoms, top || 1) })),
  );
  const reading = el("p", { class: "reading", "aria-live": "polite" }, words);
  let chosen = steps;
  function choose(step) {
    chosen = Math.min(Math.max(step, 0), steps - 1);
    const values = series.map(({ name, values }) => values[chosen] && `${show(values[chosen])} ${name}`.trim()).filter(Boolean);
    const isUnknown = series[0].values[chosen] === null;
    replace(reading, `${moment(at(chosen))}: ${isUnknown ? "the daemon did not run" : values.join(", ") || "nothing"}`);
  }
  function leave() {
    chosen = steps;
    replace(reading, words);
  }
  picture.addEventListener("pointermove", (event) => {
    const { left, width } = picture.getBoundingClientRect();
    choose(Math.floor(((event.clientX - left) / width) * steps));
  });
  picture.addEventListener("pointerleave", leave);
  picture.addEventListener("blur", leave);
  picture.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: chosen - 1, ArrowRight: chosen + 1, Home: 0, End: steps - 1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    choose(step);
  });
  return el(
    "figure",
    { class: isStrip ? "chart strip" : "chart" },
    el("figcaption", {}, el("h3", {}, title), !isStrip && top > 0 && el("span", { class: "soft" }, `up to ${show(top)}`)),
    picture,
    el("div", { class: "axis soft", dir: "ltr" }, el("span", {}, moment(at(0))), el("span", {}, moment(at(steps)))),
    reading,
    series.length > 1 && el("ul", { class: "legend" }, series.filter(({ values }) => values.some(Boolean)).map(({ name, tone }) => el("li", { class: tone }, name))),
  );
}
