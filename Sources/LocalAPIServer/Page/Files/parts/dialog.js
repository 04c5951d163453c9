// Dialogs: a question before something that cannot be taken back, or something to read.

import { actions, el } from "../core/dom.js";
import { sayIn } from "./notices.js";

/** `choices` are `[words, value, tone]`, the last one what is meant without a choice; `closed(value)` gets the choice. */
function open(title, content, choices, closed) {
  const choice = ([words, value, tone], index) =>
    el("button", { type: "button", class: tone, autofocus: index === choices.length - 1, onclick: () => dialog.close(value) }, words);
  const dialog = el(
    "dialog",
    { "aria-labelledby": "dialog-title", onclose: close },
    el("h2", { id: "dialog-title" }, title),
    content,
    actions(choices.map(choice)),
  );
  function close() {
    sayIn(document.body);
    dialog.remove();
    closed(dialog.returnValue);
  }
  document.body.append(dialog);
  dialog.showModal();
  sayIn(dialog);
}

/** Asks, and answers whether the person agreed. */
export const confirmed = (question, details, action) =>
  new Promise((resolve) => open(question, details, [[action, "yes", "danger"], ["Cancel", ""]], (value) => resolve(value === "yes")));

/** Shows something until it is closed. */
export const shown = (title, content) => open(title, content, [["Close", ""]], () => {});
