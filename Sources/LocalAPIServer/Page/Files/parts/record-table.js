// A table of any length: reads pages by cursor as you scroll, and keeps only those near the window.

import { get } from "../core/api.js";
import { el, link, replace } from "../core/dom.js";
import { label } from "../core/format.js";
import { places } from "../core/schema.js";
import { includedRecord, shownValue, syncTag } from "./value.js";

const rowHeight = 40;
const pageSize = 100;
/** Pages kept on each side of the window. */
const keptPages = 3;
/** Rows drawn beyond the window. */
const overdraw = 12;
/** Browsers draw nothing beyond some 17 million pixels: the table then shows a later part of its rows. */
const tallest = 8e6;

/**
 * `address` and `parameters` make the list; `columns` are names of fields; `sort(name)` is called for a heading.
 * `{node, reload(), close()}`.
 */
export function recordTable({ entity, schema, address, parameters, columns, sorted, sort, notice }) {
  // Cursors are small and kept; records are kept for the pages near the window only.
  const pages = [{ cursor: null, records: null, count: null }];
  const state = { end: false, base: 0, drawn: "", version: 0, isClosed: false, frame: null };
  const references = columns.map((name) => entity.field(name)).filter((field) => field?.type === "reference");
  const include = references.map((field) => entity.relation(field)?.name).filter(Boolean).join(",");
  const body = el("tbody");
  const node = el(
    "div",
    { class: "scroll records", tabindex: "0", role: "region", "aria-label": label(entity.name), onscroll: plan },
    el("table", { "aria-rowcount": "-1" }, el("thead", {}, heading()), body),
  );
  const table = node.firstChild;
  table.style.minWidth = `${12 + columns.length * 9}rem`;
  const resized = new ResizeObserver(plan);
  resized.observe(node);
  plan();

  function heading() {
    const title = el("th", { scope: "col", "aria-sort": null }, el("button", { type: "button", disabled: true }, "Record"));
    return el("tr", {}, title, columns.map((name) => {
      const field = entity.field(name);
      const order = sorted.name === name ? (sorted.isDescending ? "descending" : "ascending") : null;
      return el(
        "th",
        { scope: "col", "aria-sort": order, class: isNumeric(field) && "number" },
        el("button", { type: "button", title: field?.index ? "Sort" : "Sort (without an index, so it reads all records)", onclick: () => sort(name) }, label(name), order && (order === "descending" ? " ↓" : " ↑")),
      );
    }));
  }

  const known = () => pages.reduce((sum, page) => sum + (page.count ?? 0), 0);

  function plan() {
    state.frame ??= requestAnimationFrame(() => {
      state.frame = null;
      if (!state.isClosed) draw();
    });
  }

  function draw() {
    rebase();
    const rows = known();
    const first = Math.max(state.base, state.base + Math.floor(node.scrollTop / rowHeight) - overdraw);
    const last = Math.min(rows, first + Math.ceil(node.clientHeight / rowHeight) + 2 * overdraw);
    if (!state.end && last >= rows - pageSize / 2) need(pages.length - 1);
    const shown = [];
    let missing = false;
    for (let row = first; row < last; row += 1) {
      const [page, index] = [Math.floor(row / pageSize), row % pageSize];
      if (!pages[page].records) {
        need(page);
        missing = true;
      }
      shown.push([row, pages[page].records?.[index]]);
    }
    forget(Math.floor(first / pageSize), Math.floor(last / pageSize));
    const key = `${first}-${last}-${rows}-${state.end}-${missing}-${state.version}`;
    if (key === state.drawn) return;
    state.drawn = key;
    table.setAttribute("aria-rowcount", state.end ? String(rows + 1) : "-1");
    const focused = body.contains(document.activeElement) ? document.activeElement.closest("tr")?.getAttribute("aria-rowindex") : null;
    replace(body, spacer((first - state.base) * rowHeight), shown.map(([row, record]) => line(row, record)), spacer((Math.min(rows, state.base + tallest / rowHeight) - last) * rowHeight));
    if (focused) body.querySelector(`tr[aria-rowindex="${focused}"] a`)?.focus({ preventScroll: true });
  }

  /** Moves the part of the rows that the table can show. */
  function rebase() {
    const step = tallest / 2;
    const by = node.scrollTop > tallest * 0.9 ? step : node.scrollTop < tallest * 0.1 && state.base > 0 ? -step : 0;
    if (by === 0) return;
    state.base += by / rowHeight;
    state.drawn = "";
    const top = node.scrollTop - by;
    replace(body, spacer(tallest));
    node.scrollTop = top;
  }

  function spacer(height) {
    const cell = el("td", { colspan: columns.length + 1 });
    cell.style.height = `${Math.max(0, height)}px`;
    return el("tr", { class: "spacer", "aria-hidden": "true" }, cell);
  }

  function line(row, record) {
    if (!record) return el("tr", { class: "record", "aria-rowindex": row + 2 }, el("td", { class: "soft", colspan: columns.length + 1 }, "…"));
    return el(
      "tr",
      { class: "record", "aria-rowindex": row + 2 },
      el("th", { scope: "row" }, link(places.record(entity.name, record[entity.key]), el("bdi", {}, entity.title(record) || record[entity.key])), " ", syncTag(record)),
      columns.map((name) => {
        const field = entity.field(name);
        const target = field?.type === "reference" ? includedRecord(record, entity, field, schema) : null;
        return el("td", { class: isNumeric(field) && "number" }, shownValue(record[name], field, target));
      }),
    );
  }

  function need(index) {
    if (!pages[index].isLoading && !pages[index].records) load(index);
  }

  async function load(index) {
    const page = pages[index];
    page.isLoading = true;
    try {
      const answer = await get(address, { ...parameters, limit: pageSize, cursor: page.cursor, include });
      if (state.isClosed) return;
      // Read again from its beginning, a list may have become shorter or longer.
      if (index === 0 && page.count !== answer.data.length) pages.splice(1);
      page.records = answer.data;
      page.count = index === 0 ? answer.data.length : page.count ?? answer.data.length;
      if (index === pages.length - 1) {
        state.end = answer.next === null;
        if (answer.next !== null) pages.push({ cursor: answer.next, records: null, count: null });
      }
      state.version += 1;
      notice(null, { isEmpty: index === 0 && answer.data.length === 0, isComplete: answer.complete !== false });
      plan();
    } catch (error) {
      if (!state.isClosed) notice(error, {});
    } finally {
      page.isLoading = false;
    }
  }

  function forget(first, last) {
    pages.forEach((page, index) => {
      if (index < first - keptPages || index > last + keptPages) page.records = null;
    });
  }

  return {
    node,
    /** Reads again what the window shows. */
    reload() {
      const index = Math.floor((state.base + node.scrollTop / rowHeight) / pageSize);
      for (const one of [index, index + 1]) if (pages[one]?.records && !pages[one].isLoading) load(one);
      if (pages.length === 1 && !pages[0].isLoading) load(0);
    },
    close() {
      state.isClosed = true;
      resized.disconnect();
    },
  };
}

const isNumeric = (field) => ["integer", "number", "money"].includes(field?.type);
