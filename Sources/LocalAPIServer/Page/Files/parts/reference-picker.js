// Picks the record that a reference names: type to search, arrows and Enter to choose.

import { get, path } from "../core/api.js";
import { el, replace } from "../core/dom.js";
import { schema } from "../core/schema.js";

/** `{node, isChanged(), value()}`; `value()` is the key of the chosen record, or null. */
export async function referencePicker(field, id, initial) {
  const entity = (await schema()).entity(field.to);
  let chosen = initial ?? null;
  let found = [];
  let active = -1;
  let timer = null;
  const listID = `${id}-list`;
  const input = el("input", {
    id, type: "text", role: "combobox", autocomplete: "off", "aria-expanded": "false", "aria-controls": listID,
    "aria-autocomplete": "list", placeholder: entity.isSearched ? "Type to search" : "The key of the record",
    oninput: changed, onkeydown: key, onblur: () => setTimeout(close, 150), onfocus: () => input.select(),
  });
  const list = el("ul", { id: listID, role: "listbox", hidden: true, "aria-label": `Found ${field.to}` });
  if (chosen !== null) {
    input.value = chosen;
    // A list is read from the cache alone.
    const answer = await get(path(field.to), { [entity.key]: chosen, limit: 1 }).catch(() => null);
    if (answer?.data.length) input.value = entity.title(answer.data[0]);
  }

  function changed() {
    chosen = input.value.trim() || null;
    clearTimeout(timer);
    if (entity.isSearched && input.value.trim().length >= 2) timer = setTimeout(search, 150);
    else close();
  }
  async function search() {
    const asked = input.value;
    const answer = await get(path(field.to), { q: asked, limit: 8 }).catch(() => null);
    if (!answer || asked !== input.value) return;
    found = answer.data;
    active = -1;
    show();
  }
  function show() {
    replace(list, found.map((record, index) =>
      el("li", { role: "option", id: `${listID}-${index}`, "aria-selected": String(index === active), onpointerdown: (event) => { event.preventDefault(); choose(index); } }, entity.title(record))));
    list.hidden = found.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
    if (active >= 0) input.setAttribute("aria-activedescendant", `${listID}-${active}`);
    else input.removeAttribute("aria-activedescendant");
  }
  function close() {
    found = [];
    show();
  }
  function choose(index) {
    chosen = found[index][entity.key];
    input.value = entity.title(found[index]);
    close();
  }
  function key(event) {
    if (list.hidden) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      active = (active + (event.key === "ArrowDown" ? 1 : -1) + found.length) % found.length;
      show();
      list.children[active].scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter" && active >= 0) choose(active);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  return { node: el("div", { class: "picker" }, input, list), isChanged: () => chosen !== (initial ?? null), value: () => chosen };
}
