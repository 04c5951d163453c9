// The schema that the daemon runs with: what records have, and what can be written.

import { encoded, get, path } from "./api.js";
import { shortened } from "./format.js";

class Entity {
  constructor(description) {
    Object.assign(this, description);
    this.byName = new Map(this.fields.map((field) => [field.name, field]));
  }

  field(name) {
    return this.byName.get(name);
  }

  /** What a record has in a field: its member of that name, else what is at the place that the field's `from` names. */
  value(record, name) {
    const place = this.field(name)?.from;
    return place && !(name in record) ? follow(record, steps(place)) : record[name];
  }

  /** A record's name for people, cut if long. */
  title(record) {
    for (const template of [this.title_text, this.title_else]) {
      const text = template && filled(template, this, record);
      if (text) return shortened(text, 200);
    }
    return shortened(String(record[this.key] ?? ""), 200);
  }

  get isSearched() {
    return this.fields.some((field) => field.search);
  }

  /** The relation to the record that a reference names. */
  relation(field) {
    return this.relations.find((one) => !one.many && one.by === field.name);
  }

  /** The columns of its table, until the reader chooses others: what tells one record from another. */
  get usualColumns() {
    const inTitle = new Set([...(this.title_text ?? "").matchAll(/\{([^}:.]+)/g)].map((match) => match[1]));
    const isCandidate = (field) => !field.secret && field.name !== this.key && !inTitle.has(field.name);
    /** How many columns of a type are enough. */
    const wanted = { enum: 2, reference: 2, money: 1, string: 2, time: 1 };
    const chosen = [];
    for (const field of this.fields.filter(isCandidate)) {
      const { type } = field;
      if ((type === "string" && !field.search) || (type === "time" && !field.index) || !(wanted[type] > 0)) continue;
      wanted[type] -= 1;
      chosen.push(field.name);
    }
    return chosen.slice(0, 7);
  }
}

/** The names of a place, of which one with a dot stands in quotes. */
const steps = (place) => [...place.matchAll(/"([^"]*)"|[^.]+/g)].map((match) => match[1] ?? match[0]);

/** What is there: in a list, a number names an element, and `*` all. */
function follow(value, [step, ...rest]) {
  if (step === undefined) return value;
  if (!Array.isArray(value)) return follow(value?.[step], rest);
  if (step === "*") return value.map((one) => follow(one, rest)).filter((one) => one !== undefined);
  return /^-?\d+$/.test(step) ? follow(value.at(Number(step)), rest) : undefined;
}

/** The template with a record's values; empty if one of them is missing. */
function filled(template, entity, record) {
  let isWhole = true;
  const text = template.replace(/\{([^}]+)\}/g, (_, part) => {
    const [place, length] = part.split(":");
    const [first, ...others] = place.split(".");
    const value = others.reduce((object, name) => object?.[name], entity.value(record, first));
    if (value === null || value === undefined || value === "") isWhole = false;
    const shown = String(value ?? "");
    return length ? shown.slice(0, Number(length)) : shown;
  });
  return isWhole ? text.trim() : "";
}

class Schema {
  constructor({ name, title, entities }) {
    this.name = name;
    this.title = title;
    this.entities = entities.map(({ title, ...rest }) => new Entity({ ...rest, title_text: title }));
  }

  entity(name) {
    return this.entities.find((entity) => entity.name === name);
  }
}

let loaded = null;

/** The schema, read once; the page is loaded again when the daemon runs with another. */
export function schema() {
  loaded ??= get(path("schema")).then((document) => new Schema(document));
  loaded.catch(() => (loaded = null));
  return loaded;
}

const address = (...segments) => "#/" + segments.map(encoded).join("/");

/** The page's own addresses. */
export const places = {
  records: (entity) => address("records", entity),
  record: (entity, id) => address("records", entity, id),
  creation: (entity, values = {}) => {
    const query = new URLSearchParams(values).toString();
    return address("new", entity) + (query ? `?${query}` : "");
  },
  change: (id) => address("queue", String(id)),
};
