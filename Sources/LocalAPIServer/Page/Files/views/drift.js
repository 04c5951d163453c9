// Drift and health: what the upstream sends otherwise than the schema says, and what the daemon finds at itself and its machine.

import { get, path } from "../core/api.js";
import { el, link, renew, replace, soft, throttled } from "../core/dom.js";
import { count, counted, label, time } from "../core/format.js";
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

/** Where a finding can be settled on this page. */
const places = { queue: "Queue", conflicts: "Conflicts", hooks: "Hooks", account: "Sign-in" };

export async function showDrift(view) {
  const title = view.title("Drift and health");
  const [wrong, words, fine] = [el("div"), el("summary"), el("ul")];
  async function check() {
    const { data } = await get(path("_doctor"), {}, view.signal);
    const [good, others] = [data.filter(({ level }) => level === "ok"), data.filter(({ level }) => level !== "ok")];
    renew(wrong, others.length === 0 ? empty("Nothing is wrong.") : others.map(warning));
    replace(words, `${counted(good.length, "check")} found nothing wrong`);
    replace(fine, good.map(({ check, message }) => el("li", { dir: "auto" }, el("strong", {}, check), ": ", message)));
  }
  const [{ data, set_aside }] = await Promise.all([get(path("drift"), {}, view.signal), check()]);
  view.on("status", throttled(2000, () => check().catch(() => {})));
  view.content.append(
    title,
    el("section", {}, el("h2", {}, "What differs from the schema"), data.length === 0 ? empty("Every record is as the schema says.") : data.map(finding)),
    set_aside.length === 0 ? "" : el("section", {}, el("h2", {}, `Set aside (${count(set_aside.length)})`), el("p", {}, "These came without a usable key, so they are not in the cache."), set_aside.slice(0, 20).map((one) => el("article", { class: "card warn" }, el("div", { class: "line" }, el("h3", {}, label(one.entity)), time(one.at, true)), el("pre", { tabindex: "0" }, JSON.stringify(one.record, null, 2))))),
    el("section", {}, el("h2", {}, "Health"), wrong, el("details", {}, words, fine), soft("For everything, with the whole database and each list of the upstream, run ", el("code", {}, "repairminder-sync doctor"), ".")),
  );
}

const warning = ({ check, level, message, advice }) =>
  el(
    "div",
    { class: `notice ${level === "error" ? "bad" : "warn"}`, dir: "auto" },
    el("p", {}, el("strong", {}, check), ": ", message),
    el("p", { class: "soft" }, "To do: ", advice, places[check] && [". ", link(`#/${places[check].toLowerCase()}`, `Go to ${places[check]}`)]),
  );

function finding(one) {
  const line = schemaLine(one);
  return el(
    "article",
    { class: "card warn" },
    el("h3", {}, `${one.entity}: ${one.field}`),
    el("p", {}, `${label(one.field)} ${(sentences[one.kind] ?? (() => one.kind))(one)}.`),
    soft(`${counted(one.count, "time")}, last `, time(one.last_seen, true), one.example && [", for example in ", recordLink(one.entity, one.example)], "."),
    line && [el("p", {}, `If that is right, put this under the fields of ${one.entity} in the schema file:`), el("pre", { tabindex: "0" }, line)],
  );
}

/** The line that makes the schema fit, where there is one. */
function schemaLine(one) {
  if (one.field === "…" || one.found === "…") return null;
  if (["unknown", "type"].includes(one.kind) && types[one.found]) return `${one.field}: { type: ${types[one.found]} }`;
  if (one.kind === "value") return `${one.field}: { values: { …, ${JSON.stringify(one.found)}: ${JSON.stringify(label(one.found))} } }`;
  return null;
}
