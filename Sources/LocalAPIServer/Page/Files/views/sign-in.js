// Signing in to the upstream, with the questions that the schema has for it.

import { get, path, send } from "../core/api.js";
import { actions, button, el, link, replace, soft } from "../core/dom.js";
import { label } from "../core/format.js";
import { refreshStatus } from "../core/live.js";
import { empty, problem, say } from "../parts/notices.js";

export async function showSignIn(view) {
  const title = view.title("Sign in to the upstream");
  const { ways } = await get(path("_sign-in"));
  const place = el("div");
  view.content.append(title, place);
  if (ways.length === 0)
    return place.append(empty("The daemon signs in by itself, or has a fixed token. Nothing can be done here."));
  if (ways.length > 1)
    place.before(el("div", { class: "actions", role: "group", "aria-label": "Ways to sign in" }, ways.map((way) => button(label(way), () => go({ way })))));
  await go({ way: ways[0] });

  /** Sends an answer, or begins; shows the next questions. */
  async function go(body) {
    let answer;
    try {
      answer = (await send("POST", path("_sign-in"), body)).document;
    } catch (error) {
      // What was typed stays, to be corrected.
      const failure = problem(error);
      place.querySelector(".notice")?.remove();
      place.append(failure);
      // Over, after ten minutes without an answer.
      if (error.status === 404) place.append(button("Begin again", () => go({ way: ways[0] })));
      return;
    }
    if (!answer.signed_in) return replace(place, questions(answer));
    say("Signed in: the daemon syncs now");
    refreshStatus();
    location.hash = "#/";
  }

  function questions({ id, questions }) {
    const inputs = questions.map(({ name, secret }) =>
      el("input", { id: `answer-${name}`, name, type: secret ? "password" : "text", required: true, autocomplete: secret ? "current-password" : "on" }));
    const press = el("button", { class: "primary" }, "Go on");
    async function submit(event) {
      event.preventDefault();
      press.disabled = true;
      await go({ id, answers: Object.fromEntries(inputs.map((input) => [input.name, input.value])) });
      press.disabled = false;
    }
    return el(
      "form",
      { onsubmit: submit },
      questions.map(({ text }, index) => el("div", { class: "field" }, el("label", { for: inputs[index].id }, text), inputs[index])),
      actions(press),
      soft("The daemon sends the answers to the upstream and keeps only the token that it gets. ", link("#/", "Back to the overview")),
    );
  }
}
