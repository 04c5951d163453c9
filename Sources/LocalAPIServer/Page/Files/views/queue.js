// The queue: what waits and why. Changes with the same error are one group, and are handled together.

import { get, path } from "../core/api.js";
import { button, el, link, replace, throttled } from "../core/dom.js";
import { count } from "../core/format.js";
import { live } from "../core/live.js";
import { schema } from "../core/schema.js";
import { changeCard, discard, retry } from "../parts/change-card.js";
import { empty } from "../parts/notices.js";

const filters = [["", "All"], ["failed", "Failed"], ["waiting", "Waiting to retry"], ["blocked", "Blocked"], ["queued", "Queued"]];
const pageSize = 100;

export async function showQueue(view, [id], parameters) {
  view.title("Queue");
  const known = await schema();
  const state = parameters.get("state") ?? "";
  const list = el("div");
  let limit = pageSize;

  async function load() {
    const isEditing = list.querySelector("form") !== null;
    if (isEditing || view.signal.aborted) return;
    let answer;
    try {
      answer = id === undefined
        ? await get(path("pending"), { state, limit }, view.signal)
        : { data: [await get(path("pending", id), {}, view.signal)], next: null };
    } catch (error) {
      if (id === undefined || error.status !== 404) throw error;
      return replace(list, empty("This change has left the queue: it was sent or discarded."));
    }
    const open = new Set([...list.querySelectorAll("details[open]")].map((node) => node.closest("[data-change]")?.dataset.change));
    replace(list, groups(answer.data, known, load), answer.next && button("Show more", () => { limit = Math.min(1000, limit + 300); return load(); }));
    for (const one of list.querySelectorAll("[data-change]")) if (open.has(one.dataset.change)) one.querySelector("details").open = true;
  }

  await load();
  const again = throttled(400, () => {
    if (!list.contains(document.activeElement)) load().catch(() => {});
  });
  live.addEventListener("changes", again, { signal: view.signal });
  view.content.append(
    el("h1", { tabindex: "-1" }, id === undefined ? "Queue" : `Change ${id}`),
    el("p", { class: "soft" }, "Changes made here that the upstream does not have yet."),
    id === undefined
      ? el("nav", { class: "tabs", "aria-label": "Filter" }, filters.map(([name, text]) => el("a", { href: `#/queue${name && `?state=${name}`}`, "aria-current": name === state ? "true" : null }, text)))
      : el("p", {}, link("#/queue", "The whole queue")),
    list,
  );
}

function groups(changes, known, reload) {
  if (changes.length === 0) return empty("Nothing waits. Changes that you make appear here until the upstream has them.");
  const byError = Map.groupBy ? Map.groupBy(changes, kind) : grouped(changes);
  return [...byError].map(([error, group]) =>
    el(
      "section",
      { class: "group", "aria-label": error || "On their way" },
      el(
        "div",
        { class: "line" },
        el("h2", {}, error ? `${error} (${count(group.length)})` : `On their way (${count(group.length)})`),
        error && group.length > 1 && el("div", { class: "actions" }, button(`Retry all ${group.length}`, () => retry(group, reload)), button(`Discard all ${group.length}`, () => discard(group, reload), { class: "danger" })),
      ),
      group.map((change) => changeCard(change, known, reload)),
    ),
  );
}

function grouped(changes) {
  const groups = new Map();
  for (const change of changes) groups.set(kind(change), [...(groups.get(kind(change)) ?? []), change]);
  return groups;
}

/** Errors that differ only in ids and numbers are one kind. */
function kind(change) {
  if (!change.error) return "";
  const message = change.error.message.replace(/^\S+ \S+ answered (\d+):? ?/, "$1 ").replace(/"[^"]*"|\b[\w-]*\d[\w-]*\b(?<!^\d{3})/g, "…");
  return `${change.error.class}: ${message}`.slice(0, 120);
}

