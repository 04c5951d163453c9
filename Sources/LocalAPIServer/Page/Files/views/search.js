// Everything that was found, best match first.

import { get, path } from "../core/api.js";
import { el, link, replace, soft } from "../core/dom.js";
import { count, label } from "../core/format.js";
import { places } from "../core/schema.js";
import { empty, problem } from "../parts/notices.js";

export async function showSearch(view, _, parameters) {
  const words = parameters.get("q") ?? "";
  const title = view.title(`Search for “${words}”`);
  const list = el("div");
  const input = document.getElementById("search");
  if (input) input.value = words;
  try {
    const { data, complete } = await get(path("search"), { q: words, limit: 50 }, view.signal);
    replace(
      list,
      soft(data.length === 50 ? "The best 50 matches." : data.length === 1 ? "One match." : `${count(data.length)} matches.`, !complete && " Records are still being indexed: search again in a minute."),
      data.length === 0 && empty("Every word must occur in the record; the last may be its beginning."),
      el("ul", { class: "hits" }, data.map(hit)),
    );
  } catch (error) {
    if (view.signal.aborted) throw error;
    replace(list, problem(error));
  }
  view.content.append(title, list);
}

const hit = ({ entity, id, title, snippet }) =>
  el("li", {}, el("p", {}, link(places.record(entity, id), el("bdi", {}, title || id)), " ", el("span", { class: "soft" }, label(entity))), el("p", { class: "soft", dir: "auto" }, marked(snippet)));

/** The API marks a match with « and ». */
function marked(snippet) {
  return (snippet ?? "").split(/(«[^«»]*»)/).map((part) => (part.startsWith("«") ? el("mark", {}, part.slice(1, -1)) : part));
}
