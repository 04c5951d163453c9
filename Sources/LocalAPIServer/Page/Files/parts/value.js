// A value as the schema says: a label, a link, an amount, a time.

import { el, link } from "../core/dom.js";
import { plain, time } from "../core/format.js";
import { places } from "../core/schema.js";

/** Longer than any key. */
const longestKey = 1000;
/** Characters in a cell. */
export const longestCell = 300;

/** `target`: the record that a reference names, with its entity, if known; `most`: characters. */
export function shownValue(value, field, target = null, most) {
  if (value === null || value === undefined || value === "") return el("span", { class: "soft" }, "–");
  switch (field?.type) {
    case "enum":
      return el("span", { class: "tag" }, plain(value, field, most));
    case "reference": {
      const text = plain(value, field, most);
      if (String(value).length > longestKey) return text;
      return link(places.record(field.to, String(value)), target ? target.entity.title(target.record) : text);
    }
    case "time":
      return time(value);
    case "object":
    case "list":
      return el("code", {}, plain(value, field, most));
    default:
      return plain(value, field, most);
  }
}

/** The record that a reference names, among the records that an answer included. */
export function includedRecord(record, entity, field, schema) {
  const relation = entity.relation(field);
  const target = relation && record._include?.[relation.name];
  return target ? { record: target, entity: schema.entity(relation.entity) } : null;
}

const words = {
  pending: ["waits to be sent", "warn"],
  uploading: ["being sent", "busy"],
  conflict: ["conflict", "bad"],
  error: ["failed", "bad"],
};

/** The state of a record, if it is not simply in sync. */
export function syncTag(record) {
  const [text, tone] = words[record._sync?.state] ?? [];
  return text ? el("span", { class: `tag ${tone}`, title: record._sync.error?.message }, text) : null;
}
