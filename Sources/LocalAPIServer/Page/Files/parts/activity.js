// What has just happened, newest first; like changes in a row become one line.

import { el, link, renew, throttled } from "../core/dom.js";
import { count, label, time } from "../core/format.js";
import { places } from "../core/schema.js";
import { recordLink } from "./record-link.js";

const words = {
  upserted: ["read from the upstream"],
  deleted: ["deleted"],
  queued: ["waits to be sent"],
  waiting: ["could not be sent, will be tried again", "warn"],
  failed: ["failed", "bad"],
  acknowledged: ["was accepted by the upstream", "good"],
  discarded: ["change discarded"],
  renamed: ["got its id from the upstream"],
  conflict: ["has a conflict found or decided", "bad"],
  reminder: ["has a reminder"],
};
const shownLines = 14;

export function activity() {
  let lines = [];
  const list = el("ol", { class: "activity" });
  const render = throttled(200, () => {
    if (lines.length === 0) return renew(list, el("li", { class: "empty" }, "Nothing has changed lately."));
    renew(list, lines.map(line));
  });

  function line({ change, records }) {
    const [text, tone] = words[change.kind] ?? [change.kind];
    const what = records > 1
      ? link(places.records(change.entity), `${count(records)} ${label(change.entity).toLowerCase()}`)
      : recordLink(change.entity, change.id);
    const fields = records === 1 && change.fields?.length > 0 && change.kind === "queued" ? `: ${change.fields.filter((name) => name !== "id").map(label).join(", ")}` : "";
    return el("li", { class: tone }, el("span", {}, what, ` ${text}${fields}`), time(change.at, true));
  }

  return {
    node: list,
    /** `changes` in the order in which they happened. */
    add(changes) {
      for (const change of changes) {
        // Between waiting and done, "is being sent" lasts too short to be read.
        if (change.kind === "uploading") continue;
        const first = lines[0];
        if (first && first.change.kind === change.kind && first.change.entity === change.entity) {
          if (first.change.id !== change.id) first.records += 1;
          first.change = change;
        } else {
          lines = [{ change, records: 1 }, ...lines.slice(0, shownLines - 1)];
        }
      }
      render();
    },
  };
}

