// How values look, in the reader's language, numbers and time zone.

import { ExactNumber } from "./api.js";
import { el } from "./dom.js";

const locale = navigator.languages?.length ? navigator.languages : "en";
const counts = new Intl.NumberFormat(locale);
const numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 20 });
const amounts = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, maximumFractionDigits: 20 });
const times = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });
const exactTimes = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "long" });
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });

export const count = (value) => counts.format(value);
// A decimal text keeps every digit; what is no finite number stays as it came.
const decimal = (format, value) => {
  const text = String(value);
  return text.trim() && Number.isFinite(Number(text)) ? format.format(text) : text;
};
export const number = (value) => decimal(numbers, value);
const hasComma = amounts.format(0)[1] === ",";
/** What the reader typed, with a point where their language has a comma. */
export const typed = (text) => (hasComma ? text.replace(",", ".") : text);
/** Whether a typed point may separate thousands. */
export const isUnclear = (text) => hasComma && /^-?[1-9]\d{0,2}\.\d{3}$/.test(text);
export const money = (value) => decimal(amounts, value);

/** "3 changes", "1 change". */
export const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

const units = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

/** "in 3 minutes", "2 hours ago". */
function ago(time, now = Date.now()) {
  const seconds = Math.round((Date.parse(time) - now) / 1000);
  if (Math.abs(seconds) < 5) return "just now";
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size);
  return relative.format(Math.trunc(seconds / size), unit);
}

/** A length of time in words. */
export function duration(seconds) {
  if (seconds < 60) return counted(Math.max(1, Math.round(seconds)), "second");
  if (seconds < 5400) return counted(Math.round(seconds / 60), "minute");
  return counted(Math.round(seconds / 3600), "hour");
}

/** A point in time, in milliseconds since 1970. */
export const moment = (milliseconds) => times.format(new Date(milliseconds));

const isTime = (text) => typeof text === "string" && !Number.isNaN(Date.parse(text));

/** A time with the exact one on hover; `isRelative` keeps it up to date by `refreshTimes`. */
export function time(text, isRelative = false) {
  if (!isTime(text)) return text === null || text === undefined ? "never" : plain(text);
  const date = new Date(text);
  const shown = isRelative ? ago(text) : times.format(date);
  return el("time", { datetime: text, title: exactTimes.format(date), class: isRelative && "relative" }, shown);
}

export function refreshTimes() {
  for (const node of document.querySelectorAll("time.relative")) node.textContent = ago(node.dateTime);
}

/** `client_id` as "Client", `created_at` as "Created at". */
export function label(name) {
  const words = name.replace(/_id$/, "").replaceAll("_", " ").trim() || name;
  return shortened(words.charAt(0).toUpperCase() + words.slice(1), 200);
}

/** The first `most` characters: drawing megabytes blocks the browser. */
export function shortened(text, most) {
  if (text.length <= most) return text;
  return `${text.slice(0, most).replace(/\p{Surrogate}$/u, "")}… (${count(text.length)} characters)`;
}

const isScalar = (value) => typeof value !== "object" || value instanceof ExactNumber;

/** A whole value as text. */
export const asText = (value) => (isScalar(value) ? String(value) : JSON.stringify(value));

/** A value as plain text, for a title or an attribute, cut if long. */
export function plain(value, field, most = 10_000) {
  if (value === null || value === undefined || value === "") return "–";
  return shortened(isScalar(value) ? shownAs(value, field) : JSON.stringify(value), most);
}

function shownAs(value, field) {
  switch (field?.type) {
    case "enum":
      return field.values.find((one) => one.value === value)?.label ?? String(value);
    case "money":
      return money(value);
    case "integer":
      // Mostly the number of something, such as an order.
      return String(value);
    case "number":
      return number(value);
    case "time":
      return isTime(value) ? times.format(new Date(value)) : String(value);
    case "boolean":
      return value === true ? "yes" : value === false ? "no" : String(value);
    default:
      return String(value);
  }
}

export const size = (bytes) =>
  bytes < 1e6 ? `${count(Math.ceil(bytes / 1e3))} kB` : `${number((bytes / 1e6).toFixed(1))} MB`;
