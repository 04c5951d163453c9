// The queue: what waits and why. Changes with the same error are one group, and are handled together.

import { get, path } from "../core/api.js";
import { actions, button, el, link, renew, soft, tabs, throttled } from "../core/dom.js";
import { count } from "../core/format.js";
import { schema } from "../core/schema.js";
import { changeCard, discard, retry } from "../parts/change-card.js";
import { empty } from "../parts/notices.js";

const filters = [["", "All"], ["failed", "Failed"], ["waiting", "Waiting to retry"], ["blocked", "Blocked"], ["queued", "Queued"]];
const pageSize = 100;

export async function showQueue(view, [id], parameters) {
  const title = view.title(id === undefined ? "Queue" : `Change ${id}`);
  const known = await schema();
  const state = parameters.get("state") ?? "";
  const list = el("div");
  let limit = pageSize;
  /** What is shown: id → card, error → group. What has not changed stays, with its focus and what is open in it. */
  const [cards, groups] = [new Map(), new Map()];

  async function load() {
    // A form must not be replaced under the reader's hands.
    if (list.querySelector("form") || view.signal.aborted) return;
    let answer;
    try {
      answer = id === undefined
        ? await get(path("pending"), { state, limit }, view.signal)
        : { data: [await get(path("pending", id), {}, view.signal)], next: null };
    } catch (error) {
      if (id === undefined || error.status !== 404) throw error;
      return renew(list, empty("This change has left the queue: it was sent or discarded."));
    }
    const blockers = await readBlockers(answer.data, view.signal);
    const card = (change) => {
      const [text, old] = [JSON.stringify([change, blockers.get(change.blocked_by)]), cards.get(change.id)];
      if (old?.text === text) return old.node;
      const node = changeCard(change, blockers.get(change.blocked_by), known, load);
      const [details, wasOpen] = [node.querySelector("details"), old?.node.querySelector("details")?.open];
      if (details && wasOpen) details.open = true;
      cards.set(change.id, { text, node });
      return node;
    };
    const byError = Map.groupBy(answer.data, kind);
    const sections = [...byError].map(([error, changes]) => {
      if (!groups.has(error)) groups.set(error, emptyGroup(error, load));
      const group = groups.get(error);
      group.fill(changes, changes.map(card));
      return group.node;
    });
    const ids = new Set(answer.data.map((change) => change.id));
    for (const one of cards.keys()) if (!ids.has(one)) cards.delete(one);
    for (const one of groups.keys()) if (!byError.has(one)) groups.delete(one);
    renew(
      list,
      sections.length === 0 && empty("Nothing waits. Changes that you make appear here until the upstream has them."),
      sections,
      answer.next && button("Show more", () => { limit = Math.min(1000, limit + 300); return load(); }),
    );
  }

  await load();
  view.on("changes", throttled(400, () => load().catch(() => {})));
  view.content.append(
    title,
    soft("Changes made here that the upstream does not have yet."),
    id === undefined
      ? tabs("Filter", filters.map(([name, words]) => [`#/queue${name && `?state=${name}`}`, words, name === state]))
      : el("p", {}, link("#/queue", "The whole queue")),
    list,
  );
}

/** The changes that others of a list wait for, by id. */
async function readBlockers(changes, signal) {
  const blockers = new Map(changes.map((change) => [change.id, change]));
  const missing = new Set(changes.map((change) => change.blocked_by).filter((one) => one !== null && !blockers.has(one)));
  const read = await Promise.all([...missing].slice(0, 20).map((one) => get(path("pending", one), {}, signal).catch(() => null)));
  for (const change of read.filter(Boolean)) blockers.set(change.id, change);
  return blockers;
}

/** `{node, fill(changes, cards)}` for the changes with an error, or without one. */
function emptyGroup(error, reload) {
  const node = el("section", { class: "group", "aria-label": error || "On their way" });
  let shown = [];
  function fill(changes, cards) {
    shown = changes;
    const all = (text, action, more) => button(`${text} all ${count(changes.length)}`, () => action(shown, reload), more);
    renew(
      node,
      el(
        "div",
        { class: "line" },
        el("h2", {}, `${error || "On their way"} (${count(changes.length)})`),
        error && changes.length > 1 && actions(all("Retry", retry), all("Discard", discard, { class: "danger" })),
      ),
      cards,
    );
  }
  return { node, fill };
}

/** Errors that differ only in ids and numbers are one kind. */
function kind(change) {
  if (!change.error) return "";
  const message = change.error.message.replace(/^\S+ \S+ answered (\d+):? ?/, "$1 ").replace(/"[^"]*"|\b[\w-]*\d[\w-]*\b(?<!^\d{3})/g, "…");
  return `${change.error.class}: ${message}`.slice(0, 120);
}
