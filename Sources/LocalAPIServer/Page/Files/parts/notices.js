// Messages: what went wrong, what was done.

import { el } from "../core/dom.js";

/** An error where it happened. */
export function problem(error, heading) {
  return el(
    "div",
    { class: "notice bad", role: "alert" },
    heading && el("strong", {}, heading),
    el("p", {}, error.message),
    error.errors?.length > 0 && el("ul", {}, error.errors.map((one) => el("li", {}, `${one.field}: ${one.message}`))),
  );
}

export const empty = (text) => el("p", { class: "empty" }, text);

// Screen readers speak only what changes in a place that they know already.
const place = el("div", { class: "toast", role: "status" });
let timer = null;

/** Shows messages in `node`: nothing outside an open dialog is spoken. */
export const sayIn = (node) => node.append(place);
sayIn(document.body);

/** Says for some seconds what was done; `isBad` says that it was not. */
export function say(text, isBad = false) {
  clearTimeout(timer);
  // Empty first, so that the same text is spoken once more.
  place.textContent = "";
  timer = setTimeout(() => {
    place.className = isBad ? "toast bad" : "toast";
    place.textContent = text;
    timer = setTimeout(() => (place.textContent = ""), isBad ? 12000 : 5000);
  }, 50);
}

/** Runs an action, and says why if it fails. Returns whether it succeeded. */
export async function attempt(action, done) {
  try {
    await action();
  } catch (error) {
    const details = (error.errors ?? []).map((one) => `${one.field}: ${one.message}`).join("; ");
    say(details ? `${error.message}. ${details}` : error.message, true);
    return false;
  }
  if (done) say(done);
  return true;
}
