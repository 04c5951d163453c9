// A question before something that cannot be taken back.

import { el } from "../core/dom.js";
import { sayIn } from "./notices.js";

function open(dialog) {
  document.body.append(dialog);
  dialog.showModal();
  sayIn(dialog);
}

function close(dialog) {
  sayIn(document.body);
  dialog.remove();
}

/** Asks, and answers whether the person agreed. */
export function confirmed(question, details, action, isDangerous = true) {
  return new Promise((resolve) => {
    const dialog = el(
      "dialog",
      { "aria-labelledby": "dialog-title", onclose: () => finish() },
      el("h2", { id: "dialog-title" }, question),
      details,
      el(
        "div",
        { class: "actions" },
        el("button", { type: "button", class: isDangerous ? "danger" : "primary", onclick: () => dialog.close("yes") }, action),
        el("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Cancel"),
      ),
    );
    function finish() {
      close(dialog);
      resolve(dialog.returnValue === "yes");
    }
    open(dialog);
  });
}

/** Shows something until it is closed. */
export function shown(title, content) {
  const dialog = el(
    "dialog",
    { "aria-labelledby": "dialog-title", onclose: () => close(dialog) },
    el("h2", { id: "dialog-title" }, title),
    content,
    el("div", { class: "actions" }, el("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Close")),
  );
  open(dialog);
}
