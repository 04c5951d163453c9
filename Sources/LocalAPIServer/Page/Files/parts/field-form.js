// A form of fields: collects what was changed, and shows each refusal at its field.

import { isSame } from "../core/api.js";
import { actions, el, keepFocus, replace } from "../core/dom.js";
import { fieldInput } from "./field-input.js";
import { problem } from "./notices.js";

/**
 * `fields` of the schema with `values` to begin with. `save(changed, event)` gets the values that differ and sends them.
 * `{node, focus()}`.
 */
export async function fieldForm(fields, values, { action, required = [], always = {}, save, cancel }) {
  const inputs = await Promise.all(fields.map((field) => fieldInput(field, values[field.name], { isRequired: required.includes(field.name) })));
  const place = el("div");
  const submit = el("button", { type: "submit", class: "primary" }, action);
  const form = el(
    "form",
    { novalidate: true, onsubmit: send },
    el("div", { class: "form" }, inputs.map((input) => input.node)),
    place,
    actions(submit, cancel && el("button", { type: "button", onclick: cancel }, "Cancel")),
  );

  function changed() {
    const result = { ...always };
    const refused = [];
    for (const input of inputs) {
      input.refuse(null);
      const { name } = input.field;
      if (!input.isChanged() && !(name in always)) continue;
      try {
        const value = input.value();
        if (!isSame(value, values[name]) || name in always) result[name] = value;
      } catch (error) {
        refused.push([input, error.message]);
      }
    }
    for (const [input, message] of refused) input.refuse(message);
    if (refused.length) refused[0][0].focus();
    return refused.length ? null : result;
  }

  async function send(event) {
    event.preventDefault();
    const result = changed();
    if (!result) return;
    submit.disabled = true;
    replace(place);
    try {
      await save(result);
    } catch (error) {
      showRefusal(error);
    } finally {
      submit.disabled = false;
      keepFocus(submit);
    }
  }

  function showRefusal(error) {
    const others = [];
    let first = null;
    for (const one of error.errors ?? []) {
      const input = inputs.find((input) => input.field.name === one.field);
      input?.refuse(one.message);
      first ??= input;
      if (!input) others.push(one);
    }
    replace(place, problem({ message: error.message, errors: others }));
    first?.focus();
  }

  return {
    node: form,
    focus: () => inputs[0]?.focus(),
  };
}
