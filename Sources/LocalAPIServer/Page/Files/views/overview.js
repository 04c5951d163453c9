// The overview: is the shop in sync, and if not, what to do.

import { path, send } from "../core/api.js";
import { actions, button, el, link, notice, renew, replace, table } from "../core/dom.js";
import { count, duration, label, time } from "../core/format.js";
import { isLinked, recentChanges, setStatus, status } from "../core/live.js";
import { places, schema } from "../core/schema.js";
import { activity } from "../parts/activity.js";
import { charts } from "../parts/charts.js";
import { attempt } from "../parts/notices.js";
import { progressSpeed } from "../parts/progress.js";
import { stateWords } from "../parts/state.js";

export async function showOverview(view) {
  view.title("Overview");
  const [known, recent] = await Promise.all([schema(), recentChanges(200).catch(() => [])]);
  const state = el("section", { class: "state", "aria-label": "State" });
  const figures = el("section", { class: "figures", "aria-label": "What needs you" });
  const entities = el("section");
  const feed = activity();
  const speed = progressSpeed();
  feed.add(recent);

  function show() {
    const now = status();
    if (!now) return;
    renew(state, stateParts(now, speed.of(now)));
    renew(figures, figureParts(now));
    // A part that has the focus must not be replaced under the reader's hands.
    if (!entities.contains(document.activeElement)) replace(entities, entityParts(now, known));
  }
  view.on("status", show);
  view.on("link", show);
  view.on("changes", ({ detail }) => feed.add(detail));
  view.content.append(
    state,
    figures,
    el("div", { class: "columns" }, entities, el("section", {}, el("h2", {}, "Recent activity"), feed.node)),
    charts(view.signal),
  );
  show();
}

const act = (address, done) => () =>
  attempt(async () => setStatus((await send("POST", address)).document), done);

function stateParts(now, speed) {
  const { word, tone, sentence } = stateWords(now, isLinked());
  const isPaused = now.state === "paused";
  return [
    el("div", { class: `headline ${tone}` }, el("h1", { tabindex: "-1" }, word), el("p", {}, sentence)),
    now.rescue && notice("bad", `The database was damaged and replaced: ${now.rescue.summary}`),
    now.warnings.map((one) => notice("warn", one)),
    now.state === "syncing" && progress(now, speed),
    el(
      "dl",
      { class: "facts" },
      fact("Upstream", now.upstream.reachable ? "reachable" : "unreachable"),
      now.upstream.retry_after && fact("Asked to wait", time(now.upstream.retry_after, true)),
      now.upstream.account && fact("Account", el("bdi", {}, now.upstream.account)),
      fact("Schema", now.schema),
      fact("Last sync", time(now.last_sync_at, true)),
      !isPaused && fact("Next sync", nextSync(now)),
    ),
    actions(
      button("Sync now", act(path("sync"), "Syncing"), { class: now.upstream.needs_sign_in ? "" : "primary", disabled: isPaused || now.state === "syncing" }),
      isPaused
        ? button("Resume", act(path("sync", "resume"), "Syncing goes on"))
        : button("Pause", act(path("sync", "pause"), "Paused: nothing is sent or read until you resume")),
      now.upstream.needs_sign_in && el("a", { class: "button primary", href: "#/sign-in" }, "Sign in to the upstream"),
      now.failed > 0 && button(`Retry all ${count(now.failed)} failed`, () => attempt(() => send("POST", path("pending", "retry")), "All failed changes are tried again")),
    ),
  ];
}

function nextSync(now) {
  if (now.state === "syncing") return "now";
  return Date.parse(now.next_sync_at) < Date.now() ? "as soon as possible" : time(now.next_sync_at, true);
}

const fact = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));

function progress(now, { rate, left }) {
  const entities = Object.values(now.entities);
  const sum = (figure) => entities.reduce((sum, entity) => sum + (figure(entity) ?? 0), 0);
  const total = sum((entity) => entity.progress?.total);
  const read = sum((entity) => entity.progress?.total && entity.progress.rows);
  const details = [total > 0 ? `${count(read)} of ${count(total)} records read` : `${count(sum((entity) => entity.rows))} records here`, rate > 0 && `${count(Math.round(rate))} a second`, left > 2 && `about ${duration(left)} left`];
  return el(
    "div",
    { class: "progress" },
    el("progress", { max: 1, value: now.progress, "aria-label": "Progress of the sync" }),
    el("p", {}, `${Math.floor(now.progress * 100)} %, `, details.filter(Boolean).join(", ")),
  );
}

function figureParts(now) {
  return [
    figure("Waiting", now.pending, "#/queue", now.pending ? "sent as soon as the upstream takes them" : "nothing waits", ""),
    figure("Failed", now.failed, "#/queue?state=failed", now.failed ? "correct, retry or discard them" : "nothing failed", now.failed && "bad"),
    figure("Conflicts", now.conflicts, "#/conflicts", now.conflicts ? "choose which value to keep" : "none to decide", now.conflicts && "bad"),
    now.parked_deliveries > 0 && figure("Hooks", now.parked_deliveries, "#/hooks", "retry or discard what they could not deliver", "bad"),
    figure("Drift", now.drift + now.set_aside, "#/drift", now.drift + now.set_aside ? "see what differs from the schema" : "as the schema says", now.drift && "warn"),
  ];
}

const figure = (name, value, href, advice, tone) =>
  el("a", { class: `figure ${tone || ""}`, href }, el("span", { class: "name" }, name), el("strong", {}, count(value)), el("span", {}, advice));

const reading = ({ progress }) => (progress?.total ? `${count(progress.rows)} of ${count(progress.total)} read` : "syncing");

function entityParts(now, known) {
  const rows = Object.entries(now.entities).map(([name, entity]) =>
    el(
      "tr",
      { class: entity.error && "bad" },
      el("th", { scope: "row" }, link(places.records(name), label(name))),
      el("td", { class: "number" }, count(entity.rows), entity.total > entity.rows && ` of ${count(entity.total)}`),
      el("td", {}, known.entity(name)?.local ? "only here" : time(entity.last_synced_at, true)),
      el("td", {}, entity.state === "syncing" ? reading(entity) : entity.error ? "see below" : ""),
    ),
  );
  const errors = Object.entries(now.entities).filter(([, entity]) => entity.error);
  return [
    el("h2", {}, "Records"),
    table("Entities", ["Kind", "Records", "Last read", "State"], rows, ["Records"]),
    errors.map(([name, entity]) => notice("bad", el("strong", {}, label(name)), ": ", entity.error)),
  ];
}

