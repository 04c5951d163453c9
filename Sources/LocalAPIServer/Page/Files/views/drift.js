// Drift and health: what the upstream sends otherwise than the schema says, and what else needs attention.

import { get, path } from "../core/api.js";
import { el, link, renew } from "../core/dom.js";
import { count, counted, label, time } from "../core/format.js";
import { live, status } from "../core/live.js";
import { empty } from "../parts/notices.js";
import { recordLink } from "../parts/record-link.js";

const types = { string: "string", integer: "integer", number: "number", boolean: "boolean", object: "object", array: "list" };

const sentences = {
  unknown: (one) => `is not in the schema; the upstream sends ${article(one.found)}`,
  missing: (one) => `should be there, and is ${one.found}`,
  type: (one) => `should be ${article(one.expected)}, and is ${article(one.found)}`,
  value: (one) => `has the value “${one.found}”, which its list does not have`,
  list: (one) => `is not believed: ${one.found}`,
  ignored: () => "was changed here; the upstream accepted that, and showed the value from before again",
};

const article = (word) => `${/^[aeiou]/.test(word) ? "an" : "a"} ${word}`;

export async function showDrift(view) {
  view.title("Drift and health");
  const { data, set_aside } = await get(path("drift"), {}, view.signal);
  const health = el("section");
  const show = () => renew(health, el("h2", {}, "Health"), checks(status() ?? { entities: {}, upstream: {}, signals: [] }));
  live.addEventListener("status", show, { signal: view.signal });
  show();
  view.content.append(
    el("h1", { tabindex: "-1" }, "Drift and health"),
    el("section", {}, el("h2", {}, "What differs from the schema"), data.length === 0 ? empty("Every record is as the schema says.") : data.map(finding)),
    set_aside.length === 0 ? "" : el("section", {}, el("h2", {}, `Set aside (${count(set_aside.length)})`), el("p", {}, "These came without a usable key, so they are not in the cache."), set_aside.slice(0, 20).map((one) => el("article", { class: "card warn" }, el("div", { class: "line" }, el("h3", {}, label(one.entity)), time(one.at, true)), el("pre", { tabindex: "0" }, JSON.stringify(one.record, null, 2))))),
    health,
  );
}

function finding(one) {
  const line = schemaLine(one);
  return el(
    "article",
    { class: "card warn" },
    el("h3", {}, `${one.entity}: ${one.field}`),
    el("p", {}, `${label(one.field)} ${(sentences[one.kind] ?? (() => one.kind))(one)}.`),
    el("p", { class: "soft" }, `${counted(one.count, "time")}, last `, time(one.last_seen, true), one.example && [", for example in ", recordLink(one.entity, one.example)], "."),
    line && [el("p", {}, `If that is right, put this under the fields of ${one.entity} in the schema file:`), el("pre", { tabindex: "0" }, line)],
  );
}

/** The line that makes the schema fit, where there is one. */
function schemaLine(one) {
  if (one.field === "…" || one.found === "…") return null;
  if (one.kind === "unknown" && types[one.found]) return `${one.field}: { type: ${types[one.found]} }`;
  if (one.kind === "type" && types[one.found]) return `${one.field}: { type: ${types[one.found]} }`;
  if (one.kind === "value") return `${one.field}: { values: { …, ${JSON.stringify(one.found)}: ${JSON.stringify(label(one.found))} } }`;
  return null;
}

function checks(now) {
  const found = [
    now.missing && ["bad", `Not set up: ${now.missing}.`],
    !now.missing && now.error && ["bad", now.error],
    ...(now.warnings ?? []).map((one) => ["warn", one]),
    now.rescue && ["bad", `The database was damaged and replaced: ${now.rescue.summary}`],
    ...Object.entries(now.entities).filter(([, one]) => one.error).map(([name, one]) => ["bad", `${label(name)}: ${one.error}`]),
    ...Object.entries(now.entities).filter(([, one]) => one.held && !one.error).map(([name, one]) => ["warn", `${label(name)}: the last full read is not believed: ${one.held}.`]),
    now.parked_deliveries > 0 && ["warn", `Hooks failed too often to deliver ${counted(now.parked_deliveries, "event")}: `, link("#/hooks", "retry or discard them")],
    now.upstream.reachable === false && ["warn", "The upstream cannot be reached."],
    Math.abs(now.upstream.clock_offset_ms ?? 0) > 60000 && ["warn", `The upstream's clock is ${counted(Math.round(Math.abs(now.upstream.clock_offset_ms) / 1000), "second")} ${now.upstream.clock_offset_ms > 0 ? "ahead" : "behind"}. Set this machine's clock.`],
    now.upstream.batches && ["warn", now.upstream.batches],
    now.upstream.budget?.waiting > 0 && ["warn", `${counted(now.upstream.budget.waiting, "request")} wait for the upstream's limit.`],
    ...(now.signals ?? []).filter((one) => one.error).map((one) => ["warn", `Signals from ${one.path}: ${one.error}`]),
  ].filter(Boolean);
  if (found.length === 0) return [empty("Nothing is wrong."), hint()];
  return [found.map(([tone, ...text]) => el("p", { class: `notice ${tone}` }, text)), hint()];
}

const hint = () => el("p", { class: "soft" }, "For a complete check of this machine, run ", el("code", {}, "repairminder-sync doctor"), ".");
