// Hooks: how far each is, and the deliveries that failed; pause or skip, retry or discard them.

import { get, isSame, path, send } from "../core/api.js";
import { actions, button, el, notice, renew, soft, throttled } from "../core/dom.js";
import { count, counted, label, time } from "../core/format.js";
import { refreshStatus } from "../core/live.js";
import { confirmed } from "../parts/dialog.js";
import { attempt, empty } from "../parts/notices.js";
import { recordLink } from "../parts/record-link.js";

const words = { waiting: "waits for the next event", retrying: "tries a delivery again", paused: "paused" };
const tones = { waiting: "good", retrying: "warn", paused: "warn" };
const advice = "Each was tried several times, and the hook went on with the next ones. Retry or discard them.";

const deliveries = (value) => (value === 1 ? "1 delivery" : `${count(value)} deliveries`);

export async function showHooks(view) {
  const title = view.title("Hooks");
  const list = el("div");
  let known = null;

  async function load() {
    if (view.signal.aborted) return;
    const { data } = await get(path("_hooks"), {}, view.signal);
    const hooks = await Promise.all(data.map((one) => (one.parked > 0 ? get(path("_hooks", one.name), {}, view.signal) : one)));
    if (known !== null && isSame(known, hooks)) return;
    known = hooks;
    renew(list, hooks.length === 0 ? empty("The configuration has no hooks.") : hooks.map((hook) => section(hook, done)));
  }
  async function done() {
    refreshStatus();
    await load().catch(() => {});
  }
  await load();
  view.on("status", throttled(2000, () => load().catch(() => {})));
  view.content.append(title, soft("Programs that run, and webhooks that are called, when something changes."), list);
}

function section(hook, done) {
  const parked = hook.parked_deliveries ?? [];
  const all = (text, action, more) => button(text, action, { ...more, "aria-label": `${text}: ${hook.name}` });
  const facts = [`${deliveries(hook.delivered)} made`, hook.of && `of ${label(hook.of)}`, hook.on.join(", ")];
  return el(
    "section",
    { class: "group", "aria-label": hook.name, "data-hook": hook.name },
    el(
      "div",
      { class: "line" },
      el("h2", {}, hook.name, " ", el("span", { class: `tag ${tones[hook.state] ?? ""}` }, words[hook.state] ?? hook.state)),
      actions(
        (hook.parked > 1 || hook.attempts > 0) && all(hook.parked > 1 ? `Retry all ${count(hook.parked)}` : "Retry now", () => retry(hook, null, done)),
        hook.attempts > 0 && all("Skip", () => skip(hook, done)),
        hook.state === "paused" ? all("Resume", () => set(hook, "resume", done)) : all("Pause", () => set(hook, "pause", done)),
        hook.parked > 1 && all(`Discard all ${count(hook.parked)}`, () => discard(hook, null, done), { class: "danger" }),
      ),
    ),
    soft(facts.filter(Boolean).join("; "), hook.delivered_at && ["; last ", time(hook.delivered_at, true)], "."),
    hook.error && notice("warn", hook.error, hook.next_attempt_at && [" Tried again ", time(hook.next_attempt_at, true), "."]),
    hook.parked > 0 && el("p", {}, `${deliveries(hook.parked)} parked. ${advice}`),
    parked.map((one) => card(hook, one, done)),
    hook.parked > parked.length && soft(`The oldest ${count(parked.length)} are shown.`),
  );
}

function card(hook, one, done) {
  return el(
    "article",
    { class: "card bad", "data-parked": one.id },
    el("div", { class: "line" }, el("h3", {}, label(one.event), one.record_id && [": ", recordLink(one.entity, one.record_id)]), time(one.parked_at, true)),
    el("p", { dir: "auto" }, one.reason),
    soft(`Tried ${counted(one.attempts, "time")}.`),
    actions(
      button("Retry", () => retry(hook, one.id, done), { "aria-label": `Retry delivery ${one.id}` }),
      button("Discard", () => discard(hook, one.id, done), { class: "danger", "aria-label": `Discard delivery ${one.id}` }),
    ),
  );
}

/** Sends an order about a hook, or about one of its parked deliveries. */
async function order(hook, action, id, words, done) {
  await attempt(() => send("POST", path("_hooks", hook.name, action), id === null ? undefined : { id }), words);
  await done();
}

const retry = (hook, id, done) => order(hook, "retry", id, id === null ? "All of them are tried again" : "It is tried again", done);

const set = (hook, action, done) => order(hook, action, null, action === "pause" ? "Paused: what happens meanwhile is delivered afterwards" : "It goes on", done);

async function skip(hook, done) {
  const isSure = await confirmed("Skip this delivery?", el("p", {}, `${hook.name} is never told of it, and goes on with the next.`), "Skip");
  if (isSure) await order(hook, "skip", null, "Skipped", done);
}

async function discard(hook, id, done) {
  const [question, what] = id === null ? [`Discard ${deliveries(hook.parked)}?`, "them"] : ["Discard this delivery?", "it"];
  const isSure = await confirmed(question, el("p", {}, `${hook.name} is never told of ${what}.`), "Discard");
  if (isSure) await order(hook, "discard", id, "Discarded", done);
}
