// Conflicts: what both sides began with, what you wrote, what the upstream has; choose one, or undo the choice.

import { get, isSame, path, query, send } from "../core/api.js";
import { actions, button, el, link, renew, soft, tabs, throttled } from "../core/dom.js";
import { label, plain, time } from "../core/format.js";
import { refreshStatus } from "../core/live.js";
import { schema } from "../core/schema.js";
import { attempt, empty } from "../parts/notices.js";
import { recordLink } from "../parts/record-link.js";

const rules = {
  last_write_wins: "the later write wins",
  local_wins: "changes made here win",
  server_wins: "the upstream wins",
  manual: "you choose",
};

export async function showConflicts(view, _, parameters) {
  const title = view.title("Conflicts");
  const known = await schema();
  const showsAll = parameters.get("all") === "true";
  const list = el("div");

  async function load() {
    const answer = await get(path("conflicts"), { open: showsAll ? null : "true", limit: 50, cursor: parameters.get("cursor") }, view.signal);
    const byRecord = Map.groupBy(answer.data, (one) => `${one.entity}/${one.record_id}`);
    renew(
      list,
      byRecord.size === 0 && empty(showsAll ? "There has been no conflict." : "No conflict waits for you."),
      [...byRecord.values()].map((group) => recordConflicts(group, known, load)),
      answer.next && link(`#/conflicts${query({ all: showsAll || null, cursor: answer.next })}`, "Older conflicts"),
    );
  }
  await load();
  const again = throttled(400, () => load().catch(() => {}));
  view.on("changes", ({ detail }) => detail.some((change) => change.kind === "conflict") && again());
  view.content.append(
    title,
    soft("Fields that were changed here and in the upstream to different values."),
    tabs("Filter", [["#/conflicts", "To decide", !showsAll], ["#/conflicts?all=true", "All", showsAll]]),
    list,
  );
}

function recordConflicts(group, known, reload) {
  const { entity, record_id } = group[0];
  return el(
    "section",
    { class: "group" },
    el("h2", {}, recordLink(entity, record_id)),
    group.map((conflict) => conflictCard(conflict, known.entity(entity)?.field(conflict.field), reload)),
  );
}

function conflictCard(conflict, field, reload) {
  const isOpen = conflict.winner === null;
  const show = (value) => (conflict.field !== null ? plain(value, field) : value === null ? "(deleted)" : "(the whole record)");
  const choose = (winner) => async () => {
    await attempt(() => send("POST", path("conflicts", conflict.id, "resolve"), { winner }), winner === "local" ? "Your value is sent to the upstream" : "The upstream's value is kept");
    refreshStatus();
    await reload();
  };
  const side = (name, value, at, winner) =>
    el(
      "div",
      { class: `side ${isSame(value, conflict.base) ? "" : "differs"} ${conflict.winner === winner && winner ? "chosen" : ""}` },
      el("strong", {}, name),
      el("div", { class: "value" }, winner ? marked(show(value), show(conflict.base)) : show(value)),
      at && time(at, true),
      isOpen && winner && button(winner === "local" ? "Keep ours" : "Take theirs", choose(winner), { class: "primary" }),
      conflict.winner === winner && winner && el("span", { class: "tag good" }, "chosen"),
    );
  return el(
    "article",
    { class: `card ${isOpen ? "bad" : ""}`, "data-conflict": conflict.id },
    el("h3", {}, conflict.field === null ? "Edited on one side, deleted on the other" : label(conflict.field)),
    el(
      "div",
      { class: "sides" },
      side("Before", conflict.base, null, null),
      side("Ours", conflict.local, conflict.local_at, "local"),
      side("Theirs", conflict.server, conflict.server_at, "server"),
    ),
    soft(
      "Found ", time(conflict.at, true), `; the schema says: ${rules[conflict.rule] ?? conflict.rule}.`,
      conflict.undone_at && [" Undone ", time(conflict.undone_at, true), "."],
    ),
    !isOpen && conflict.undone_at === null && actions(button("Undo: use the other value", () => undo(conflict, reload))),
  );
}

/** The text with the words marked that differ from those of another, if the texts have a beginning or an end in common. */
function marked(text, other) {
  const [words, others] = [text, other].map((one) => one.split(/(\s+)/));
  const most = Math.min(words.length, others.length);
  let [start, end] = [0, 0];
  while (start < most && words[start] === others[start]) start += 1;
  while (end < most - start && words.at(-1 - end) === others.at(-1 - end)) end += 1;
  if (!words[start]?.trim()) start += 1;
  const part = words.slice(start, words.length - end).join("");
  if (start + end === 0 || part === "") return text;
  return [words.slice(0, start).join(""), el("mark", {}, part), words.slice(words.length - end).join("")];
}

async function undo(conflict, reload) {
  await attempt(() => send("POST", path("conflicts", conflict.id, "undo")), "The other value is sent to the upstream");
  refreshStatus();
  await reload();
}
