// The keys of the page.

import { el } from "../core/dom.js";
import { shown } from "./dialog.js";

const places = { o: ["", "the overview"], r: ["records", "the records"], q: ["queue", "the queue"], c: ["conflicts", "the conflicts"], d: ["drift", "drift and health"], h: ["hooks", "the hooks"] };

/** A view's own keys, set while it is shown: key → [action, words]. */
export const ownKeys = new Map();

export function listenToKeys() {
  let isGoing = false;
  let timer = null;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const isTyping = event.target.closest?.("input, textarea, select");
    if (event.key === "Escape" && isTyping) return event.target.blur();
    if (isTyping) return;
    if (isGoing && places[event.key]) {
      isGoing = false;
      location.hash = `#/${places[event.key][0]}`;
      return event.preventDefault();
    }
    clearTimeout(timer);
    isGoing = event.key === "g";
    if (isGoing) timer = setTimeout(() => (isGoing = false), 1500);
    if (event.key === "/") {
      event.preventDefault();
      document.getElementById("search")?.select();
    } else if (event.key === "?") {
      showKeys();
    } else if (ownKeys.has(event.key)) {
      event.preventDefault();
      ownKeys.get(event.key)[0]();
    }
  });
}

function showKeys() {
  const row = (keys, words) => [el("dt", {}, keys.map((key) => el("kbd", {}, key))), el("dd", {}, words)];
  shown(
    "Keys",
    el(
      "dl",
      { class: "keys" },
      row(["/"], "search all records"),
      Object.entries(places).map(([key, [, words]]) => row(["g", key], `go to ${words}`)),
      [...ownKeys].map(([key, [, words]]) => row([key], words)),
      row(["Esc"], "leave a field, close a dialog"),
      row(["?"], "show these keys"),
    ),
  );
}
