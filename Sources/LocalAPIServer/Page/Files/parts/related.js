// The records that refer to a record, one list for each relation.

import { get, path } from "../core/api.js";
import { el, link, replace, soft, table } from "../core/dom.js";
import { count, label } from "../core/format.js";
import { places } from "../core/schema.js";
import { longestCell, shownValue, syncTag } from "./value.js";

const shownRecords = 10;

/** Sections for the relations of an entity to many; each reads its list when it is made. */
export function relatedRecords(entity, id, schema, signal) {
  return entity.relations.filter((one) => one.many).map((relation) => section(entity, id, relation, schema.entity(relation.entity), signal));
}

function section(entity, id, relation, other, signal) {
  const columns = other.usualColumns.filter((name) => name !== relation.by).slice(0, 3);
  const list = el("div", {}, soft("…"));
  const title = el("h2", {}, label(relation.name));
  get(path(entity.name, id, relation.name), { limit: shownRecords, count: "true" }, signal)
    .then(({ data, total }) => {
      title.append(` (${count(total)})`);
      const rows = data.map((record) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, link(places.record(other.name, record[other.key]), other.title(record) || record[other.key]), " ", syncTag(record)),
          columns.map((name) => el("td", {}, shownValue(other.value(record, name), other.field(name), null, longestCell))),
        ),
      );
      replace(
        list,
        rows.length > 0 && table(label(relation.name), ["Record", ...columns.map(label)], rows),
        total > shownRecords && el("p", {}, link(`${places.records(other.name)}?${new URLSearchParams({ [relation.by]: id })}`, `All ${count(total)}`)),
        rows.length === 0 && soft("none"),
      );
    })
    .catch((error) => signal.aborted || replace(list, soft(error.message)));
  return el(
    "section",
    {},
    el("div", { class: "line" }, title, other.create && link(places.creation(other.name, { [relation.by]: id }), `New in ${label(relation.name).toLowerCase()}`)),
    list,
  );
}
