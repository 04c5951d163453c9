// A new record, as a form made from the schema.

import { idempotencyKey, path, send } from "../core/api.js";
import { el, link } from "../core/dom.js";
import { label } from "../core/format.js";
import { refreshStatus } from "../core/live.js";
import { places, schema } from "../core/schema.js";
import { fieldForm } from "../parts/field-form.js";
import { say } from "../parts/notices.js";

export async function showCreation(view, [name], parameters) {
  const entity = (await schema()).entity(name);
  if (!entity?.create) throw new Error(`The schema cannot create ${name}.`);
  const title = view.title(`New in ${label(name).toLowerCase()}`);
  const given = Object.fromEntries(parameters);
  const fields = entity.create.map((one) => entity.field(one)).filter((field) => field && !(field.name === entity.key && field.type !== "reference"));
  // Those that must be filled in come first.
  fields.sort((one, other) => Number(other.required) - Number(one.required));
  const initial = Object.fromEntries(fields.map((field) => [field.name, given[field.name] ?? field.default]));
  const always = Object.fromEntries(Object.entries(given).filter(([one]) => entity.create.includes(one)));
  let last = { text: null, key: null };
  const form = await fieldForm(fields, initial, {
    action: "Create",
    required: fields.filter((field) => field.required).map((field) => field.name),
    always,
    async save(changed) {
      // A second press after a lost answer does not make a second record.
      const text = JSON.stringify(changed);
      if (last.text !== text) last = { text, key: idempotencyKey() };
      const { document } = await send("POST", path(name), changed, { "Idempotency-Key": last.key });
      say(entity.local ? "Saved" : entity.content?.create ? "Kept here; add its content, which is sent with it" : "Kept here; it is sent when the upstream can be reached");
      refreshStatus();
      location.hash = places.record(name, document[entity.key]);
    },
    cancel: () => history.back(),
  });
  view.content.append(el("p", {}, link(places.records(name), label(name))), title, form.node);
}
