// Starts the page: finds the view for the address, and keeps the header and the keyboard alive.

import { el, link, replace } from "./core/dom.js";
import { refreshTimes } from "./core/format.js";
import { live, start } from "./core/live.js";
import { schema } from "./core/schema.js";
import { showHeader } from "./parts/header.js";
import { listenToKeys } from "./parts/keyboard.js";
import { problem } from "./parts/notices.js";
import { showConflicts } from "./views/conflicts.js";
import { showCreation } from "./views/creation.js";
import { showDrift } from "./views/drift.js";
import { showHooks } from "./views/hooks.js";
import { showOverview } from "./views/overview.js";
import { showQueue } from "./views/queue.js";
import { showRecord } from "./views/record.js";
import { showRecords } from "./views/records.js";
import { showSearch } from "./views/search.js";
import { endSession, showSession } from "./views/session.js";
import { showSignIn } from "./views/sign-in.js";

/** The first segment of an address → its view. */
const views = {
  "": showOverview,
  records: (view, [entity, id], parameters) => (id === undefined ? showRecords : showRecord)(view, [entity, id], parameters),
  new: showCreation,
  queue: showQueue,
  conflicts: showConflicts,
  drift: showDrift,
  hooks: showHooks,
  search: showSearch,
  session: showSession,
  "sign-in": showSignIn,
};

let current = new AbortController();
let isFirst = true;

async function show() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  let segments = [];
  try {
    segments = path.split("/").map(decodeURIComponent);
  } catch {
    // An address that someone cut off; its view says that there is nothing.
  }
  const [name = "", ...rest] = segments;
  current.abort();
  current = new AbortController();
  const { signal } = current;
  const main = document.getElementById("main");
  const content = el("div", { class: "view" });
  const view = {
    content,
    signal,
    /** Listens to `live` while the view is shown. */
    on: (type, action) => live.addEventListener(type, action, { signal }),
    /** Names the page in its window, and returns the heading with the name. */
    title(text) {
      document.title = `${text} – ${document.body.dataset.title ?? "repairminder-sync"}`;
      return el("h1", { tabindex: "-1" }, text);
    },
  };
  try {
    await (Object.hasOwn(views, name) ? views[name] : showNothing)(view, rest, new URLSearchParams(query));
  } catch (error) {
    if (signal.aborted) return;
    replace(content, problem(error));
  }
  if (signal.aborted) return;
  replace(main, content);
  if (!isFirst) {
    scrollTo(0, 0);
    (content.querySelector("[autofocus]") ?? content.querySelector("h1") ?? main).focus({ preventScroll: true });
  }
  isFirst = false;
  live.dispatchEvent(new CustomEvent("place", { detail: name }));
}

function showNothing(view) {
  view.content.append(view.title("There is nothing at this address"), el("p", {}, link("#/", "Go to the overview")));
}

if ("signedOut" in document.body.dataset) {
  history.replaceState(null, "", "#/session");
} else {
  await start();
  document.body.dataset.title = (await schema().catch(() => null))?.title ?? "";
  showHeader();
  listenToKeys();
  if ("session" in document.body.dataset) document.querySelector("footer").append(endSession());
}
addEventListener("hashchange", show);
setInterval(refreshTimes, 5000);
await show();
