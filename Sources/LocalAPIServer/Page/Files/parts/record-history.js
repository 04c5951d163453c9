// Why a record is as it is: the steps of its local changes, newest first.

import { get, path } from "../core/api.js";
import { el, replace } from "../core/dom.js";
import { label, plain, time } from "../core/format.js";

const words = {
  queued: { edited: "Edited", corrected: "Corrected in the queue", retried: "Retried", not_sent: "Not sent: the upstream was unreachable", interrupted: "The daemon ended during the attempt", carried: "Came from another database" },
  uploading: "Sent",
  waiting: "Not accepted, will be tried again",
  failed: "Failed",
  acknowledged: "Accepted by the upstream",
  discarded: { asked: "Discarded", superseded: "Replaced by a deletion", merged: "Merged with the upstream's version",
    corrected: "Corrects a refused change" },
  renamed: "Got its id from the upstream",
  conflict: { found: "A conflict was found", resolved: "A conflict was decided", undone: "A decision was undone" },
  deleted: "Deleted",
  upserted: "Read from the upstream",
};

export function recordHistory(entity, id, signal) {
  const list = el("ol", { class: "activity" });
  const read = async (details) => {
    if (!details.open || list.firstChild) return;
    try {
      const steps = [];
      let cursor = null;
      do {
        const page = await get(path(entity.name, id, "history"), { limit: 200, cursor }, signal);
        steps.push(...page.data);
        cursor = page.next;
      } while (cursor !== null && steps.length < 1000);
      replace(list, steps.length ? steps.reverse().map((step) => line(step, entity)) : el("li", { class: "empty" }, "No local change is on record."));
    } catch (error) {
      replace(list, el("li", { class: "empty" }, error.message));
    }
  };
  return el("details", { class: "history", ontoggle: (event) => read(event.target) }, el("summary", {}, "History"), list);
}

function line(step, entity) {
  const text = typeof words[step.kind] === "object" ? words[step.kind][step.reason] ?? step.kind : words[step.kind] ?? step.kind;
  const values = Object.entries(step.values ?? {}).map(([name, value]) => `${label(name)}: ${plain(value, entity.field(name))}`).join(", ");
  return el("li", { class: { failed: "bad", acknowledged: "good", waiting: "warn" }[step.kind] }, el("span", {}, text, values && ` – ${values}`, step.error && ` – ${step.error.message}`), time(step.at, true));
}
