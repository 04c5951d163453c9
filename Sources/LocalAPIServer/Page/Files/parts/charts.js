// What the daemon has done in the last hours and days, from GET /v1/_activity.

import { get, path } from "../core/api.js";
import { button, el, replace } from "../core/dom.js";
import { count, counted, duration, number } from "../core/format.js";
import { status } from "../core/live.js";
import { chart } from "./chart.js";
import { empty } from "./notices.js";

const spans = [["minutes", "6 hours"], ["hours", "7 days"]];
const results = [["2xx", "answered", "good"], ["3xx", "redirected", "soft"], ["4xx", "refused", "warn"], ["5xx", "failed", "bad"], ["unreachable", "without an answer", "none"]];

const total = (values) => values.reduce((sum, value) => sum + (value ?? 0), 0);
const seconds = (value) => `${number(value.toFixed(value < 10 ? 1 : 0))} s`;

function queue({ pending, failed }) {
  // An hour has the most of its minutes.
  const [waits, fails] = [status()?.pending ?? 0, status()?.failed ?? 0];
  const most = Math.max(0, ...pending);
  return {
    title: "Queue",
    words: `${count(waits)} waiting and ${count(fails)} failed now; at most ${count(most)} waited`,
    series: [{ name: "failed", tone: "bad", values: failed }, { name: "waiting", tone: "busy", values: pending }],
    show: count,
  };
}

function syncs({ syncs, sync_ms }) {
  const values = syncs.map((syncs, step) => syncs && sync_ms[step] / syncs / 1000);
  const all = total(syncs);
  return {
    title: "Time of a sync",
    words: all ? `${counted(all, "sync")}, ${seconds(total(sync_ms) / all / 1000)} on average` : "no sync",
    series: [{ name: "", tone: "busy", values }],
    show: seconds,
  };
}

function requests({ requests }) {
  const parts = results.map(([key, name]) => [total(requests[key] ?? []), name]).filter(([sum]) => sum > 0);
  return {
    title: "Requests to the upstream",
    words: parts.map(([sum, name]) => `${count(sum)} ${name}`).join(", ") || "none",
    series: results.map(([key, name, tone]) => ({ name, tone, values: requests[key] })),
    show: count,
  };
}

function reachability({ unreachable_s, step_s }) {
  const lost = total(unreachable_s);
  const unknown = unreachable_s.filter((value) => value === null).length * step_s;
  return {
    title: "Upstream reachable",
    words: `${lost ? `unreachable for ${duration(lost)}` : "all the time"}${unknown ? `; nothing is known of ${duration(unknown)}` : ""}`,
    series: [
      { name: "unreachable", tone: "bad", values: unreachable_s },
      { name: "reachable", tone: "good", values: unreachable_s.map((value) => value !== null && step_s - value) },
    ],
    show: duration,
    greatest: step_s,
    isStrip: true,
  };
}

/** A section that reads the history again each minute, until `signal` ends it. */
export function charts(signal) {
  let [span, history] = ["minutes", null];
  const place = el("div", { class: "charts" });
  const choice = el("div", { class: "actions", role: "group", "aria-label": "Length of time" });
  function draw() {
    replace(choice, spans.map(([name, text]) => button(text, () => choose(name), { "aria-pressed": String(name === span) })));
    // A chart that someone reads step by step must not be replaced.
    if (!history || place.contains(document.activeElement)) return;
    const activity = history[span];
    const at = (step) => Date.parse(activity.start) + step * activity.step_s * 1000;
    if (activity.pending.every((value) => value === null))
      return replace(place, empty("The first minute of the history is not over yet."));
    replace(place, [queue, syncs, requests, reachability].map((of) => chart({ ...of(activity), at })));
  }
  function choose(name) {
    span = name;
    draw();
    choice.querySelector("[aria-pressed=true]").focus();
  }
  async function read() {
    if (document.hidden) return;
    // Without an answer the charts stay as they are; the header says that there is no connection.
    history = await get(path("_activity"), {}, signal).catch(() => history);
    if (!signal.aborted) draw();
  }
  const timer = setInterval(read, 60000);
  signal.addEventListener("abort", () => clearInterval(timer));
  document.addEventListener("visibilitychange", read, { signal });
  draw();
  read();
  return el("section", { "aria-label": "History" }, el("div", { class: "line" }, el("h2", {}, "History"), choice), place);
}
