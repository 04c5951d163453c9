// A question before something that cannot be taken back.

import { el } from "../core/dom.js";

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
      resolve(dialog.returnValue === "yes");
      dialog.remove();
    }
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Shows something until it is closed. */
export function shown(title, content) {
  const dialog = el(
    "dialog",
    { "aria-labelledby": "dialog-title", onclose: () => dialog.remove() },
    el("h2", { id: "dialog-title" }, title),
    content,
    el("div", { class: "actions" }, el("button", { type: "button", autofocus: true, onclick: () => dialog.close() }, "Close")),
  );
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
