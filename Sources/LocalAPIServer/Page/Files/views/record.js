// A record as a form made from the schema, with its pictures, its related records and its history.

import { get, getTagged, path, send } from "../core/api.js";
import { button, el, link, notice, renew, replace, soft, throttled } from "../core/dom.js";
import { count, label, plain, time } from "../core/format.js";
import { refreshStatus } from "../core/live.js";
import { places, schema } from "../core/schema.js";
import { recordContent } from "../parts/content.js";
import { confirmed } from "../parts/dialog.js";
import { fieldForm } from "../parts/field-form.js";
import { ownKeys } from "../parts/keyboard.js";
import { attempt, problem, say } from "../parts/notices.js";
import { recordHistory } from "../parts/record-history.js";
import { relatedRecords } from "../parts/related.js";
import { includedRecord, shownValue, syncTag } from "../parts/value.js";

/** Members shown that the schema lacks. */
const mostOthers = 500;

export async function showRecord(view, [name, id]) {
  const known = await schema();
  const entity = known.entity(name);
  if (!entity) throw new Error(`The schema has no ${name}.`);
  // A browser takes these for steps in an address, and would ask for something else.
  if (id === "." || id === "..") throw new Error(`No record can have the id ${id}`);
  const include = entity.relations.filter((one) => !one.many).map((one) => one.name).join(",");
  const [head, body] = [el("div"), el("div")];
  let shown = null;
  let isEditing = false;

  async function load() {
    shown = await getTagged(path(name, id), { include, server: "true" }, view.signal);
    view.title(entity.title(shown.document));
    showHead();
    if (!isEditing) showFields();
  }

  function showHead() {
    const record = shown.document;
    const { state, error, synced_at } = record._sync;
    renew(
      head,
      el("p", {}, link(places.records(name), label(name))),
      el(
        "div",
        { class: "toolbar" },
        el("h1", { tabindex: "-1", dir: "auto" }, entity.title(record) || id),
        syncTag(record) ?? el("span", { class: "tag good" }, entity.local ? "only here" : "in sync"),
        entity.update?.length > 0 && button("Edit", edit, { class: "primary", id: "edit" }),
        !entity.local && button("Read from upstream", refresh),
        entity.delete && button("Delete", remove, { class: "danger" }),
      ),
      error && notice("bad", error.message, " ", link("#/queue", "See the queue")),
      state === "conflict" && notice("bad", "Both sides changed this record. ", link("#/conflicts", "Choose which value to keep")),
      !entity.local && soft("As the upstream had it ", time(synced_at, true), "."),
    );
  }

  function showFields() {
    const record = shown.document;
    const pending = new Set(record._sync.pending_fields);
    const named = new Set(entity.fields.map((field) => field.name));
    const others = Object.keys(record).filter((one) => !named.has(one) && !one.startsWith("_"));
    renew(
      body,
      el("div", { class: "form" }, entity.fields.map((field) => shownField(field, record, pending.has(field.name)))),
      others.length > 0 && el("details", {}, el("summary", {}, `${count(others.length)} more that the schema does not name`), el("div", { class: "form" }, others.slice(0, mostOthers).map((one) => shownField({ name: one, type: "string" }, record, false))), others.length > mostOthers && soft(`Only the first ${mostOthers} are shown.`)),
    );
  }

  function shownField(field, record, isPending) {
    const target = field.type === "reference" ? includedRecord(record, entity, field, known) : null;
    const own = entity.value(record, field.name);
    const value = field.secret ? secret(field) : shownValue(own, field, target);
    const server = record._server;
    return el(
      "div",
      { class: `field ${isPending ? "pending" : ""} ${plain(own, field).length > 80 ? "wide" : ""}`, "data-field": field.name },
      el("span", { class: "label" }, label(field.name)),
      el("div", { class: "value" }, value),
      isPending && el("p", { class: "server" }, server && field.name in server ? `not sent yet; upstream: ${plain(server[field.name], field)}` : "not sent yet"),
    );
  }

  function secret(field) {
    const place = el("span", {}, button("Show", async () => {
      await attempt(async () => {
        const answer = await get(path(name, id), { reveal: field.name });
        replace(place, field.name in answer ? shownValue(answer[field.name], field) : "cannot be decrypted");
      });
    }, { class: "plain", "aria-label": `Show ${label(field.name)}` }));
    return place;
  }

  async function edit() {
    isEditing = true;
    const fields = entity.update.map((one) => entity.field(one)).filter((field) => field && !field.secret);
    // The version that the person sees: a save over someone else's change is refused.
    const { tag, document } = shown;
    const form = await fieldForm(fields, Object.fromEntries(fields.map(({ name }) => [name, entity.value(document, name)])), {
      action: "Save",
      required: fields.filter((field) => field.required).map((field) => field.name),
      async save(changed) {
        if (Object.keys(changed).length > 0) {
          try {
            await send("PATCH", path(name, id), changed, { "If-Match": tag });
          } catch (error) {
            if (error.status !== 412) throw error;
            await load();
            throw new Error("Someone changed this record meanwhile. Cancel to see the new version, then edit again.");
          }
          say(entity.local ? "Saved" : "Saved here; it is sent when the upstream can be reached");
        }
        isEditing = false;
        await load();
        refreshStatus();
        focusEdit();
      },
      cancel: () => {
        isEditing = false;
        showFields();
        focusEdit();
      },
    });
    replace(body, form.node);
    form.focus();
  }
  const focusEdit = () => head.querySelector("#edit")?.focus();

  async function refresh() {
    await attempt(async () => {
      const { headers } = await getTagged(path(name, id), { refresh: "true" });
      const status = headers.get("Cache-Status") ?? "";
      await load();
      say(/; hit/.test(status) ? `From the cache: ${/detail="([^"]*)"/.exec(status)?.[1] ?? "this is the cached record"}` : "This is as the upstream has it now");
    });
  }

  async function remove() {
    const isAgreed = await confirmed(`Delete “${entity.title(shown.document)}”?`, el("p", {}, entity.local ? "It exists only here." : "It is deleted here at once, and the deletion is sent to the upstream."), "Delete");
    if (!isAgreed) return;
    if (await attempt(() => send("DELETE", path(name, id), undefined, { "If-Match": shown.tag }), entity.local ? "Deleted" : "Deleted here; the deletion is sent")) location.hash = places.records(name);
  }

  await load();
  view.content.append(
    head,
    body,
    entity.content ? recordContent(entity, id) : "",
    el("div", { class: "columns" }, relatedRecords(entity, id, known, view.signal)),
    recordHistory(entity, id, view.signal),
  );
  if (entity.update?.length > 0) ownKeys.set("e", [() => !isEditing && edit(), "edit this record"]);
  view.signal.addEventListener("abort", () => ownKeys.delete("e"));
  const again = throttled(300, () => load().catch((error) => view.signal.aborted || replace(head, problem(error))));
  view.on("changes", ({ detail }) => {
    const renamed = detail.find((change) => change.kind === "renamed" && change.old_id === id);
    if (renamed) return history.replaceState(null, "", places.record(name, renamed.id));
    if (detail.length === 0 || detail.some((change) => change.entity === name && change.id === id)) again();
  });
}
