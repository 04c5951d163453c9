// The filters of a table, made from the types of its fields: counts for enums, ranges for numbers and times, parts of texts.

import { exactNumber, get, path } from "../core/api.js";
import { el, link } from "../core/dom.js";
import { count, label } from "../core/format.js";
import { places } from "../core/schema.js";

const states = [["pending", "waits to be sent"], ["error", "failed"], ["conflict", "conflict"], ["synced", "in sync"]];

/** A panel with the filters in `parameters`; `apply(parameters)` gets those that a person chose. */
export function recordFilters(entity, parameters, apply, signal) {
  const chosen = { ...parameters };
  const set = (name, value) => {
    if (value) chosen[name] = value;
    else delete chosen[name];
    apply({ ...chosen });
  };
  const parts = entity.fields.map((field) => {
    if (field.secret) return null;
    const make = makers[field.type];
    return make ? make(entity, field, chosen, set, signal) : null;
  });
  return el("div", { class: "panel" }, el("div", { class: "filters" }, group("State", select("State", chosen.sync, states, (value) => set("sync", value))), parts), el("p", {}, link(places.records(entity.name), "Remove all filters")));
}

const group = (name, ...inputs) => el("fieldset", {}, el("legend", {}, name), inputs);

const select = (name, value, choices, onchange) =>
  el("select", { "aria-label": name, onchange: (event) => onchange(event.target.value) }, el("option", { value: "" }, "any"), choices.map(([one, words]) => el("option", { value: one, selected: one === value }, words)));

const makers = {
  enum(entity, field, chosen, set, signal) {
    const checked = new Set((chosen[field.name] ?? "").split(",").filter(Boolean));
    const boxes = field.values.map(({ value, label: words }) => {
      const figure = el("span", { class: "soft" });
      // Counts cost a read each: those of a field with an index are quick.
      if (field.index) {
        get(path(entity.name), { [field.name]: value, limit: 1, count: "true", fields: entity.key }, signal)
          .then((answer) => figure.append(count(answer.total)))
          .catch(() => {});
      }
      const box = el("input", {
        type: "checkbox", checked: checked.has(value),
        onchange: (event) => {
          if (event.target.checked) checked.add(value);
          else checked.delete(value);
          set(field.name, [...checked].join(","));
        },
      });
      return el("label", {}, box, words, figure);
    });
    return el("fieldset", { class: "checks" }, el("legend", {}, label(field.name)), boxes);
  },
  boolean: (entity, field, chosen, set) =>
    group(label(field.name), select(label(field.name), chosen[field.name], [["true", "yes"], ["false", "no"]], (value) => set(field.name, value))),
  /** The search index finds parts of a text. */
  string(entity, field, chosen, set) {
    const name = `${field.name}.contains`;
    return field.search && group(label(field.name), el("input", {
      type: "search", "aria-label": `${label(field.name)} contains`, placeholder: "contains", maxlength: 200, value: chosen[name] ?? "",
      onchange: (event) => set(name, event.target.value.trim()),
    }));
  },
  integer: range,
  number: range,
  money: range,
  time(entity, field, chosen, set) {
    if (!field.index) return null;
    const day = (name, words, offset) => {
      const shown = chosen[name] ? dayText(new Date(Date.parse(chosen[name]) - offset * 86400000)) : "";
      return el("input", { type: "date", "aria-label": `${label(field.name)} ${words}`, value: shown, onchange: (event) => set(name, event.target.value && boundary(event.target.value, offset)) });
    };
    return group(label(field.name), el("div", { class: "range" }, day(`${field.name}.gte`, "from", 0), "–", day(`${field.name}.lt`, "to", 1)));
  },
};

function range(entity, field, chosen, set) {
  const bound = (operator, words) =>
    el("input", {
      type: "text", inputmode: "decimal", "aria-label": `${label(field.name)} ${words}`, placeholder: words, value: chosen[`${field.name}.${operator}`] ?? "",
      onchange: (event) => {
        const text = event.target.value.trim();
        const isValid = text === "" || exactNumber(text) !== null;
        event.target.toggleAttribute("aria-invalid", !isValid);
        if (isValid) set(`${field.name}.${operator}`, text);
      },
    });
  return group(label(field.name), el("div", { class: "range" }, bound("gte", "from"), "–", bound("lte", "to")));
}

/** Midnight in the reader's time zone, `offset` days later. */
function boundary(text, offset) {
  const [year, month, day] = text.split("-").map(Number);
  return new Date(year, month - 1, day + offset).toISOString();
}

const dayText = (date) => `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`;
