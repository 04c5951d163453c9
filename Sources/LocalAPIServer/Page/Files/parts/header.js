// The header: where you are, the search, and the state at every moment.

import { get, path } from "../core/api.js";
import { el, link, replace } from "../core/dom.js";
import { count } from "../core/format.js";
import { isLinked, live, status } from "../core/live.js";
import { schema } from "../core/schema.js";
import { stateWords } from "./state.js";

const pages = [["", "Overview"], ["records", "Records"], ["queue", "Queue"], ["conflicts", "Conflicts"], ["drift", "Drift"], ["hooks", "Hooks"]];

/** In a narrow window, menus scroll. */
function showPlaces() {
  for (const one of document.querySelectorAll("nav [aria-current]")) one.scrollIntoView({ block: "nearest", inline: "nearest" });
}

export async function showHeader() {
  const header = document.querySelector("header.top");
  const title = (await schema().catch(() => null))?.title ?? "repairminder-sync";
  const links = new Map(pages.map(([name, text]) => [name, link(`#/${name}`, text)]));
  /** Shown if the configuration has hooks. */
  const hooks = links.get("hooks");
  hooks.hidden = true;
  const readHooks = () => get(path("_hooks")).then(({ data }) => (hooks.hidden = data.length === 0), () => {}).then(showPlaces);
  const badge = el("p", { class: "badge", role: "status" });
  const input = el("input", { type: "search", name: "q", id: "search", "aria-label": "Search all records", placeholder: "Search  /", autocomplete: "off" });
  const form = el("form", { role: "search", class: "search", onsubmit: search }, input);
  function search(event) {
    event.preventDefault();
    const words = input.value.trim();
    if (words) location.hash = `#/search?${new URLSearchParams({ q: words })}`;
  }
  function showState() {
    const { word, tone, sentence } = stateWords(status(), isLinked());
    badge.className = `badge ${tone}`;
    badge.title = sentence;
    if (badge.textContent !== word) badge.textContent = word;
    showCount("queue", "Queue", (status()?.pending ?? 0) + (status()?.failed ?? 0), status()?.failed > 0);
    showCount("conflicts", "Conflicts", status()?.conflicts ?? 0, true);
    showCount("drift", "Drift", status()?.drift ?? 0, false);
    showCount("hooks", "Hooks", status()?.parked_deliveries ?? 0, true);
  }
  function showCount(name, text, value, isBad) {
    replace(links.get(name), text, value > 0 && el("span", { class: isBad ? "count bad" : "count" }, count(value)));
  }
  function markPlace(name) {
    const page = { new: "records" }[name] ?? name;
    for (const [name, node] of links) {
      if (name === page) node.setAttribute("aria-current", "page");
      else node.removeAttribute("aria-current");
    }
    if (name !== "search") input.value = "";
    showPlaces();
  }
  replace(header, link("#/", el("span", { class: "brand" }, title)), badge, el("nav", { "aria-label": "Pages" }, [...links.values()]), form);
  live.addEventListener("status", showState);
  live.addEventListener("link", showState);
  live.addEventListener("link", readHooks);
  live.addEventListener("place", ({ detail }) => markPlace(detail));
  showState();
  readHooks();
}
