// The input for a field, made from its type. Every input gives back JSON exactly as the API takes it.

import { exactNumber, parse } from "../core/api.js";
import { el } from "../core/dom.js";
import { asText, isUnclear, label, typed } from "../core/format.js";
import { referencePicker } from "./reference-picker.js";

let made = 0;

/**
 * `{node, isChanged(), value(), refuse(message)}`; `value()` throws an Error with words for what cannot be a value of the field.
 * An input cannot show every value: an unchanged one keeps the value that it began with.
 */
export async function fieldInput(field, initial, { isRequired = false } = {}) {
  made += 1;
  const id = `field-${made}`;
  const hint = el("p", { class: "hint bad", id: `${id}-hint`, hidden: true });
  const input = await inputs[field.type in inputs ? field.type : "string"](field, id, initial ?? null);
  const control = input.node.matches("input, select, textarea") ? input.node : input.node.querySelector("input");
  const before = control.value;
  control.setAttribute("aria-describedby", hint.id);
  if (isRequired) control.setAttribute("aria-required", "true");
  const isLong = control.matches("textarea");
  const node = el(
    "div",
    { class: isLong ? "field wide" : "field", "data-field": field.name },
    el("label", { for: id }, label(field.name), isRequired && " (required)"),
    input.node,
    hint,
  );
  function refuse(message) {
    hint.textContent = message ?? "";
    hint.hidden = !message;
    if (message) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  }
  control.addEventListener("input", () => refuse(null));
  return {
    field,
    node,
    isChanged: input.isChanged ?? (() => control.value !== before),
    value: input.value,
    refuse,
    focus: () => control.focus(),
  };
}

const isLongText = (field, value) =>
  /note|comment|content|description|diagnosis|resolution|issue|message|body|text/.test(field.name) || asText(value ?? "").length > 60;

const inputs = {
  string(field, id, value) {
    const text = value === null ? "" : asText(value);
    const node = isLongText(field, value) ? el("textarea", { id, dir: "auto", value: text }) : el("input", { id, type: field.secret ? "password" : "text", dir: "auto", value: text, autocomplete: "off" });
    // An empty field stays the null that it was.
    return { node, value: () => (node.value === "" ? (value === "" ? "" : null) : node.value) };
  },
  integer: (field, id, value) => numeric(id, value, "numeric", /^-?\d+$/, "a whole number"),
  number: (field, id, value) => numeric(id, value, "decimal", /./, "a number, such as 12.5"),
  money: (field, id, value) => numeric(id, value, "decimal", /./, "an amount, such as 12.50"),
  boolean(field, id, value) {
    const node = choice(id, value === null ? "" : String(value), [["true", "yes"], ["false", "no"]]);
    return { node, value: () => (node.value === "" ? null : node.value === "true") };
  },
  enum(field, id, value) {
    const known = field.values.map((one) => [one.value, one.label]);
    if (value !== null && !known.some(([one]) => one === value)) known.push([value, `${value} (not in the schema)`]);
    const node = choice(id, value ?? "", known);
    return { node, value: () => node.value || null };
  },
  time(field, id, value) {
    const node = el("input", { id, type: "datetime-local", step: "1", value: localTime(value) });
    return { node, value: () => (node.value === "" ? null : new Date(node.value).toISOString()) };
  },
  reference: (field, id, value) => referencePicker(field, id, value),
  object: json,
  list: json,
};

function numeric(id, value, mode, pattern, words) {
  const node = el("input", { id, type: "text", inputmode: mode, value: value === null ? "" : String(value), autocomplete: "off" });
  return {
    node,
    value() {
      const given = node.value.trim();
      if (given === "") return null;
      if (isUnclear(given)) throw new Error(`“${given}” can mean two numbers: write ${given.replace(".", "")} or ${given.replace(".", ",")}`);
      const text = typed(given);
      const number = pattern.test(text) ? exactNumber(text) : null;
      if (number === null) throw new Error(`expected ${words}, got “${text}”`);
      return number;
    },
  };
}

function choice(id, value, choices) {
  const options = [el("option", { value: "" }, "–"), ...choices.map(([one, words]) => el("option", { value: one, selected: one === value }, words))];
  return el("select", { id }, options);
}

function json(field, id, value) {
  const node = el("textarea", { id, spellcheck: "false", value: value === null ? "" : JSON.stringify(value, null, 2) });
  return {
    node,
    value() {
      if (node.value.trim() === "") return null;
      try {
        return parse(node.value);
      } catch {
        throw new Error("this is not JSON");
      }
    },
  };
}

/** A time as `datetime-local` takes it: in the reader's time zone, without one. */
function localTime(text) {
  const date = new Date(text ?? NaN);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60000);
  return Number.isNaN(local.getTime()) ? "" : local.toISOString().slice(0, 19);
}
