// One change of the queue: what it does, why it waits, and what you can do about it.

import { get, path, send } from "../core/api.js";
import { actions, button, el, link, notice, replace, soft } from "../core/dom.js";
import { counted, label, plain, time } from "../core/format.js";
import { refreshStatus } from "../core/live.js";
import { places } from "../core/schema.js";
import { confirmed } from "./dialog.js";
import { fieldForm } from "./field-form.js";
import { attempt, say } from "./notices.js";
import { recordLink } from "./record-link.js";

const tones = { queued: "", uploading: "busy", waiting: "warn", blocked: "warn", failed: "bad" };
const operations = { create: "Create", update: "Change", delete: "Delete", content: "Upload to" };

const operation = (change) => operations[change.operation] ?? change.operation;
/** What a change does, in words. */
const changeTitle = (change) => `${operation(change)} ${change.entity}/${change.record_id}`;

/**
 * `blocker` is the change that it waits for, if that is known; `known` is the schema; `reload()` is called after the change
 * was corrected, retried or discarded.
 */
export function changeCard(change, blocker, known, reload) {
  const entity = known.entity(change.entity);
  const editor = el("div");
  const isRecord = change.operation !== "delete" && entity;
  const own = (text, action, more) => button(text, action, { ...more, "aria-label": `${text}: change ${change.id}` });
  const title = isRecord ? [operation(change), " ", recordLink(change.entity, change.record_id)] : changeTitle(change);
  return el(
    "article",
    { class: `card ${tones[change.state] ?? ""}`, "data-change": change.id, "aria-label": changeTitle(change) },
    el("div", { class: "line" }, el("h3", {}, title), el("span", { class: "tag" }, change.state)),
    el("p", {}, reason(change, blocker)),
    change.error && notice("bad", change.error.message),
    values(change, entity),
    soft("made ", time(change.created_at, true), change.last_attempt_at && [", last tried ", time(change.last_attempt_at, true)], change.retry_count > 0 && `, ${counted(change.retry_count, "attempt")} counted`),
    actions(
      canCorrect(change, entity) && own("Correct", () => correct(change, entity, editor, reload), { class: change.state === "failed" ? "primary" : null }),
      ["failed", "waiting"].includes(change.state) && own("Retry", () => retry([change], reload)),
      change.state !== "uploading" && own("Discard", () => discard([change], reload), { class: "danger" }),
      change.request && requestDetails(change.request),
    ),
    editor,
  );
}

function reason(change, blocker) {
  if (change.conflict !== null) return ["Waits for your choice in a ", link("#/conflicts", "conflict"), "."];
  if (change.blocked_by !== null) {
    const name = blocker ? `${blocker.entity}/${blocker.record_id}` : `change ${change.blocked_by}`;
    const why = blocker?.state === "failed" ? `, which failed${blocker.error ? `: ${blocker.error.message}` : ""}` : ", which comes first";
    return ["Waits for ", link(places.change(change.blocked_by), name), `${why}.`];
  }
  switch (change.state) {
    case "queued":
      return "Is sent as soon as the upstream can be reached.";
    case "uploading":
      return "Is being sent now.";
    case "waiting":
      // While the upstream is left alone, that time may be over.
      return Date.parse(change.next_attempt_at) > Date.now()
        ? ["Is tried again ", time(change.next_attempt_at, true), "."]
        : "Is tried again as soon as possible.";
    case "failed":
      return "Failed for good: correct it, retry it, or discard it.";
    default:
      return "Waits for a change before it.";
  }
}

function values(change, entity) {
  const names = (change.fields ?? []).filter((name) => name !== entity?.key);
  if (names.length === 0) return null;
  const body = change.body ?? {};
  return el(
    "dl",
    { class: "values" },
    names.map((name) => [
      el("dt", {}, label(name)),
      el("dd", {}, name in body ? plain(body[name], entity?.field(name)) : "(secret)"),
    ]),
  );
}

function requestDetails(request) {
  const head = [`${request.method} ${request.path}`, ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`)];
  const body = request.body === null ? "" : `\n\n${typeof request.body === "string" ? request.body : JSON.stringify(request.body, null, 2)}`;
  return el("details", {}, el("summary", {}, "The request"), el("pre", { tabindex: "0" }, head.join("\n") + body));
}

const canCorrect = (change, entity) =>
  entity && ["create", "update"].includes(change.operation) && change.state !== "uploading" && (change.operation === "update" || change.state === "failed" || change.retry_count === 0);

async function correct(change, entity, place, reload) {
  const writable = entity[change.operation] ?? [];
  const names = change.operation === "create" ? writable.filter((name) => name !== entity.key) : change.fields;
  const body = change.body ?? {};
  const fields = names.map((name) => entity.field(name)).filter((field) => field && !(field.secret && !(field.name in body)));
  // What the upstream complained about comes first, then what the change sets.
  const rank = (field) => (change.error?.message.includes(field.name) ? 2 : 0) + (field.name in body ? 1 : 0);
  fields.sort((one, other) => rank(other) - rank(one));
  const form = await fieldForm(fields, body, {
    action: "Correct and send",
    required: fields.filter((field) => field.required).map((field) => field.name),
    async save(changed) {
      await send("PATCH", path("pending", change.id), changed);
      say("Corrected: it is sent again");
      replace(place);
      refreshStatus();
      await reload();
    },
    cancel: () => replace(place),
  });
  replace(place, form.node);
  form.focus();
}

/** Retries changes, one after the other. */
export async function retry(changes, reload) {
  await attempt(async () => {
    for (const change of changes) await send("POST", path("pending", change.id, "retry"));
  }, `${counted(changes.length, "change")} tried again`);
  refreshStatus();
  await reload();
}

/** Discards changes after a question, with what depends on them if the person agrees. */
export async function discard(changes, reload) {
  const question = changes.length === 1 ? `Discard “${changeTitle(changes[0])}”?` : `Discard ${counted(changes.length, "change")}?`;
  if (!(await confirmed(question, el("p", {}, "Records get back the upstream's values. This cannot be undone."), "Discard"))) return;
  let done = 0;
  const isDone = await attempt(async () => {
    for (const change of changes) if (await discardOne(change)) done += 1;
  });
  if (isDone && done > 0) say(`${counted(done, "change")} discarded`);
  refreshStatus();
  await reload();
}

async function discardOne(change) {
  const address = path("pending", change.id);
  try {
    await send("DELETE", address);
    return true;
  } catch (error) {
    // It went with the one before it.
    if (error.status === 404) return false;
    if (error.dependents.length === 0) throw error;
    const dependents = await Promise.all(error.dependents.map((id) => get(path("pending", id)).catch(() => null)));
    const list = el("ul", {}, dependents.filter(Boolean).map((one) => el("li", {}, changeTitle(one))));
    const isAgreed = await confirmed(`${counted(error.dependents.length, "other change")} depend${error.dependents.length === 1 ? "s" : ""} on “${changeTitle(change)}”`, [el("p", {}, "They would be discarded with it:"), list], "Discard all");
    if (isAgreed) await send("DELETE", `${address}?cascade=true`);
    return isAgreed;
  }
}
