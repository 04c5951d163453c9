// A table of any length: reads pages by cursor as you scroll, and keeps only those near the window.

import { get } from "../core/api.js";
import { el, link, replace } from "../core/dom.js";
import { label } from "../core/format.js";
import { places } from "../core/schema.js";
import { includedRecord, longestCell, shownValue, syncTag } from "./value.js";

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
  // Cursors are small and kept; records are kept for the pages near the window only. A page of large records is shorter.
  const pages = [];
  const filled = new Set();
  add(null);
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
  table.style.minWidth = `${12 + columns.length * 9.5}rem`;
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
        { scope: "col", "aria-sort": order, class: isNumeric(field) ? "number" : field?.type === "time" && "time" },
        el("button", { type: "button", title: field?.index ? "Sort" : "Sort (without an index, so it reads all records)", onclick: () => sort(name) }, label(name), order && (order === "descending" ? " ↓" : " ↑")),
      );
    }));
  }

  function add(cursor, count = null) {
    const last = pages.at(-1);
    pages.push({ index: pages.length, start: last ? last.start + last.count : 0, cursor, count, records: null, isLoading: false });
  }

  const known = () => pages.at(-1).start + pages.at(-1).count;

  /** The index of the page that has a row, found by halving. */
  function pageOf(row) {
    let [low, high] = [0, pages.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (pages[middle].start <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }

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
    if (!state.end && last >= rows - pageSize / 2) need(pages.at(-1));
    const shown = [];
    let missing = false;
    const begin = pageOf(first);
    let page = pages[begin];
    for (let row = first; row < last; row += 1) {
      while (row >= page.start + page.count) page = pages[page.index + 1];
      if (!page.records) {
        need(page);
        missing = true;
      }
      shown.push([row, page.records?.[row - page.start]]);
    }
    forget(begin, page.index);
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
        return el("td", { class: isNumeric(field) && "number" }, shownValue(entity.value(record, name), field, target, longestCell));
      }),
    );
  }

  function need(page) {
    if (!page.isLoading && !page.records) load(page);
  }

  async function load(page) {
    page.isLoading = true;
    try {
      const answer = await get(address, { ...parameters, limit: pageSize, cursor: page.cursor, include });
      const next = pages[page.index + 1];
      if (state.isClosed || pages[page.index] !== page) return;
      page.records = answer.data;
      filled.add(page);
      // Read again, it may end elsewhere: what followed it is then read from there.
      if (!next || page.count !== answer.data.length || next.cursor !== answer.next) {
        for (const one of pages.splice(page.index + 1)) filled.delete(one);
        page.count = answer.data.length;
        state.end = answer.next === null;
        if (!state.end) add(answer.next, next?.count);
      }
      state.version += 1;
      notice(null, { isEmpty: page.index === 0 && page.count === 0, isComplete: answer.complete !== false });
      plan();
    } catch (error) {
      if (!state.isClosed) notice(error, {});
    } finally {
      page.isLoading = false;
    }
  }

  function forget(first, last) {
    for (const page of filled) {
      if (page.index >= first - keptPages && page.index <= last + keptPages) continue;
      page.records = null;
      filled.delete(page);
    }
  }

  return {
    node,
    /** Reads again what the window shows. */
    reload() {
      const index = pageOf(Math.floor(state.base + node.scrollTop / rowHeight));
      for (const page of pages.slice(index, index + 2)) if ((page.records || page.index === 0) && !page.isLoading) load(page);
    },
    close() {
      state.isClosed = true;
      resized.disconnect();
    },
  };
}

const isNumeric = (field) => ["integer", "number", "money"].includes(field?.type);
