// What changes while the page is open: the status, and the changes of records, queue and conflicts.

import { get, path } from "./api.js";
import { schema } from "./schema.js";

/** Fires `status` with the status, `changes` with the latest changes, and `link` when the daemon goes or comes back. */
export const live = new EventTarget();

const state = { status: null, isLinked: true, epoch: null, position: null, stream: null, timer: null };
/** The changes kept for one delivery, while a large pull brings thousands a second. */
const capacity = 400;
const kinds = [
  "upserted", "deleted", "queued", "uploading", "waiting", "failed", "acknowledged", "discarded", "renamed", "conflict",
  "reminder",
];

export const status = () => state.status;
export const isLinked = () => state.isLinked;

const tell = (type, detail) => live.dispatchEvent(new CustomEvent(type, { detail }));

function setLinked(isLinked) {
  if (state.isLinked === isLinked) return;
  state.isLinked = isLinked;
  tell("link", isLinked);
}

/** Reads the status now, and again soon while something is under way. */
export async function refreshStatus() {
  clearTimeout(state.timer);
  try {
    const status = await get(path("status"));
    const schemaName = state.status?.schema;
    state.status = status;
    setLinked(true);
    // Forms and tables of another schema would be wrong.
    if (schemaName && schemaName !== status.schema) location.reload();
    tell("status", status);
  } catch (error) {
    // Someone has to sign in first.
    if (error.status === 401) return;
    setLinked(false);
  }
  if (!document.hidden) {
    const isBusy = state.status?.state === "syncing" || state.status?.pending > 0 || !state.isLinked;
    state.timer = setTimeout(refreshStatus, isBusy ? 1000 : 5000);
  }
}

/** Takes a status that an action answered. */
export function setStatus(status) {
  state.status = status;
  tell("status", status);
}

let waiting = [];
let delivery = null;

function receive(event) {
  const change = JSON.parse(event.data);
  state.position = change.seq;
  waiting.push(change);
  if (waiting.length > capacity) waiting.shift();
  delivery ??= setTimeout(() => {
    const changes = waiting;
    [waiting, delivery] = [[], null];
    tell("changes", changes);
    refreshStatus();
  }, 250);
}

function follow() {
  state.stream?.close();
  const parameters = new URLSearchParams({ since: state.position, epoch: state.epoch });
  state.stream = new EventSource(`${path("events")}?${parameters}`);
  for (const kind of kinds) state.stream.addEventListener(kind, receive);
  state.stream.addEventListener("open", () => setLinked(true));
  state.stream.addEventListener("error", () => {
    refreshStatus();
    // Closed for good: the place in the log is gone, or the daemon is full. Start again from now.
    if (state.stream.readyState === EventSource.CLOSED) setTimeout(restart, 3000);
  });
}

async function restart() {
  if (document.hidden) return;
  try {
    const { epoch, next } = await get(path("changes"), { limit: 1 });
    const isNewCache = state.epoch !== null && state.epoch !== epoch;
    Object.assign(state, { epoch, position: next });
    follow();
    if (isNewCache) tell("changes", []);
  } catch (error) {
    if (error.status !== 401) setTimeout(restart, 3000);
  }
}

/** The latest changes, oldest first, for a page that has just been opened. */
export async function recentChanges(limit) {
  const { next } = await get(path("changes"), { limit: 1 });
  try {
    return (await get(path("changes"), { since: Math.max(0, next - limit), limit })).data;
  } catch {
    // Not so many are kept.
    return [];
  }
}

/** Starts, once. A hidden page keeps no stream, because a browser opens only six connections to one place. */
export async function start() {
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      state.stream?.close();
      return;
    }
    refreshStatus();
    if (state.epoch) follow();
    else restart();
  });
  await Promise.all([refreshStatus(), restart(), schema().catch(() => null)]);
}
