// A link to a record by its name. Names are read from the cache, those of one moment together, and never upstream.

import { get, path } from "../core/api.js";
import { link } from "../core/dom.js";
import { label } from "../core/format.js";
import { places, schema } from "../core/schema.js";

/** Names for one view of the page; it is emptied when it has grown. */
const names = new Map();
const capacity = 500;
let wanted = new Map();

/** The link shows the key until the name is known, and keeps it for a record that is not cached. */
export function recordLink(entity, id) {
  const key = `${entity}/${id}`;
  const node = link(places.record(entity, id), names.get(key) ?? key);
  if (wanted.size === 0) setTimeout(readNames);
  if (!wanted.has(entity)) wanted.set(entity, []);
  wanted.get(entity).push([id, node]);
  return node;
}

async function readNames() {
  const asked = wanted;
  wanted = new Map();
  if (names.size > capacity) names.clear();
  const known = await schema();
  for (const [name, nodes] of asked) {
    const entity = known.entity(name);
    // A comma separates keys in a filter.
    const ids = [...new Set(nodes.map(([id]) => id))].filter((id) => !id.includes(",")).slice(0, 100);
    if (!entity || ids.length === 0) continue;
    const answer = await get(path(name), { [entity.key]: ids.join(","), limit: 100 }).catch(() => null);
    for (const record of answer?.data ?? []) names.set(`${name}/${record[entity.key]}`, `${label(name)} ${entity.title(record)}`);
    for (const [id, node] of nodes) node.textContent = names.get(`${name}/${id}`) ?? node.textContent;
  }
}
