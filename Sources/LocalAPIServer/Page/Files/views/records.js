// The records of an entity: a table to search, filter and sort.

import { get, path } from "../core/api.js";
import { el, replace, soft, tabs, throttled } from "../core/dom.js";
import { count, label } from "../core/format.js";
import { live } from "../core/live.js";
import { places, schema } from "../core/schema.js";
import { empty, problem } from "../parts/notices.js";
import { recordFilters } from "../parts/record-filters.js";
import { recordTable } from "../parts/record-table.js";

/** Parameters of the address that are no filters. */
const ownParameters = new Set(["q", "sort"]);

export async function showRecords(view, [name], parameters) {
  const known = await schema();
  const entity = known.entity(name ?? known.entities[0]?.name);
  if (!entity) throw new Error(`The schema has no ${name}.`);
  const title = label(entity.name);
  view.title(title);
  const chosen = Object.fromEntries(parameters);
  const place = el("div");
  const notice = el("div", { "aria-live": "polite" });
  const total = el("span", { class: "soft", id: "total" });
  let table = null;

  const filterNames = () => Object.keys(chosen).filter((one) => !ownParameters.has(one));
  const hasFilters = () => filterNames().length > 0;
  const filterWords = () => (hasFilters() ? `Filters (${filterNames().length})` : "Filters");
  const filterButton = el("button", { type: "button", "aria-expanded": String(hasFilters()), onclick: toggleFilters }, filterWords());
  const filterPlace = el("div", { hidden: !hasFilters() });
  function toggleFilters() {
    filterPlace.hidden = !filterPlace.hidden;
    filterButton.setAttribute("aria-expanded", String(!filterPlace.hidden));
    if (!filterPlace.hidden && !filterPlace.firstChild) fillFilters();
  }
  function fillFilters() {
    const filters = Object.fromEntries(filterNames().map((one) => [one, chosen[one]]));
    replace(filterPlace, recordFilters(entity, filters, (values) => {
      for (const one of filterNames()) delete chosen[one];
      Object.assign(chosen, values);
      filterButton.textContent = filterWords();
      update();
    }, view.signal));
  }

  function update() {
    const text = new URLSearchParams(chosen).toString();
    // No `hashchange`: the table is replaced, and the reader stays at the filter.
    history.replaceState(null, "", places.records(entity.name) + (text ? `?${text}` : ""));
    open();
  }

  function open() {
    table?.close();
    const sorting = chosen.sort ?? entity.sort ?? "";
    const first = sorting.split(",")[0];
    const sorted = { name: first.replace(/^-/, ""), isDescending: first.startsWith("-") };
    table = recordTable({
      entity, schema: known, address: path(entity.name), parameters: chosen, columns: columnsOf(entity), sorted,
      sort(field) {
        chosen.sort = sorted.name === field && !sorted.isDescending ? `-${field}` : field;
        update();
      },
      notice(error, { isEmpty, isComplete }) {
        replace(notice, error ? problem(error) : isEmpty ? empty(emptyWords(chosen)) : isComplete === false && soft("The first load is under way: more records come."));
      },
    });
    replace(place, table.node);
    get(path(entity.name), { ...chosen, limit: 1, count: "true", fields: entity.key, sort: null }, view.signal)
      .then((answer) => (total.textContent = count(answer.total)))
      .catch(() => (total.textContent = ""));
  }

  const searchWords = `Search ${title.toLowerCase()}`;
  const search = el("input", {
    type: "search", class: "grow", "aria-label": searchWords, placeholder: searchWords, value: chosen.q ?? "",
    oninput: throttled(250, () => {
      const words = search.value.trim();
      // The API searches for two letters or more.
      if (words.length >= 2) chosen.q = words;
      else if (chosen.q) delete chosen.q;
      else return;
      update();
    }),
  });
  view.content.append(
    tabs("Kinds of records", known.entities.map((one) => [places.records(one.name), label(one.name), one === entity])),
    el(
      "div",
      { class: "toolbar" },
      el("h1", { tabindex: "-1" }, title, " ", total),
      entity.isSearched && search,
      filterButton,
      columnMenu(entity, open, view.signal),
      entity.create && el("a", { class: "button primary", href: places.creation(entity.name) }, "New"),
    ),
    filterPlace,
    notice,
    place,
  );
  if (hasFilters()) fillFilters();
  open();
  const again = throttled(1000, () => table.reload());
  view.on("changes", ({ detail }) => {
    if (detail.length === 0 || detail.some((change) => change.entity === entity.name)) again();
  });
  view.signal.addEventListener("abort", () => table.close());
}

const emptyWords = (chosen) => (Object.keys(chosen).some((one) => one !== "sort") ? "No record matches." : "There are no records yet.");

const storageKey = (entity) => `columns/${entity.name}`;

/** The columns that the person chose in this browser, or the usual ones. */
function columnsOf(entity) {
  try {
    const chosen = JSON.parse(localStorage.getItem(storageKey(entity)));
    if (Array.isArray(chosen)) return chosen.filter((name) => entity.field(name));
  } catch {
    // No storage, or something else in it.
  }
  return entity.usualColumns;
}

function columnMenu(entity, changed, signal) {
  const boxes = entity.fields.filter((field) => !field.secret).map((field) => {
    const box = el("input", { type: "checkbox", name: field.name, checked: columnsOf(entity).includes(field.name), onchange: save });
    return el("label", {}, box, label(field.name));
  });
  const menu = el("details", { class: "menu" }, el("summary", {}, "Columns"), el("fieldset", { class: "panel checks" }, boxes));
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  }, { signal });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
  function save() {
    const names = [...menu.querySelectorAll("input:checked")].map((box) => box.name);
    try {
      localStorage.setItem(storageKey(entity), JSON.stringify(names));
    } catch {
      // The choice lasts as long as this page.
    }
    changed();
  }
  return menu;
}
