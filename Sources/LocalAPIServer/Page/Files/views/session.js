// Signing in to the page with the API's token, for readers whom the daemon does not know.

import { path, send } from "../core/api.js";
import { actions, button, el, soft } from "../core/dom.js";
import { attempt, problem } from "../parts/notices.js";

/** Starts the page again, which then is another one. */
function reload() {
  location.hash = "#/";
  location.reload();
}

export function showSession(view) {
  const token = el("input", { type: "password", id: "token", name: "token", autocomplete: "current-password", required: true });
  // Password managers keep the token under this name.
  const user = el("input", { type: "text", name: "user", autocomplete: "username", value: "repairminder-sync", hidden: true });
  const failure = el("div");
  const press = el("button", { class: "primary" }, "Sign in");
  async function submit(event) {
    event.preventDefault();
    press.disabled = true;
    try {
      await send("POST", path("_session"), { token: token.value.trim() });
      reload();
    } catch (error) {
      failure.replaceChildren(problem(error));
      token.select();
    } finally {
      press.disabled = false;
    }
  }
  view.content.append(
    view.title("Sign in"),
    el("p", {}, "The daemon does not know you. Give the token of its API once: an administrator finds it in the file ", el("code", {}, "api-token"), " of the daemon's state directory."),
    el("form", { class: "field", onsubmit: submit }, user, el("label", { for: "token" }, "Token"), token, actions(press)),
    failure,
    soft("You stay signed in until you close the browser, do not use the page for eight hours, or the daemon restarts."),
  );
}

/** A button for readers who have signed in. */
export const endSession = () =>
  button("Sign out", async () => {
    if (await attempt(() => send("DELETE", path("_session")))) reload();
  });
