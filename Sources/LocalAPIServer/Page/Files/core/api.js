// Calls the API at /v1, exactly as scripts do.

/** A number with more digits than JavaScript keeps: money stays as the upstream sent it. */
export class ExactNumber {
  constructor(source) {
    this.source = source;
  }
  toString() {
    return this.source;
  }
  valueOf() {
    return Number(this.source);
  }
  toJSON() {
    return JSON.rawJSON ? JSON.rawJSON(this.source) : Number(this.source);
  }
}

/** The number that a person typed, digit by digit; null for anything else. */
export function exactNumber(text) {
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return null;
  return String(Number(text)) === text ? Number(text) : new ExactNumber(text);
}

/** The value of a JSON text, with every digit of its numbers. */
export function parse(text) {
  return JSON.parse(text, (_, value, context) => {
    if (typeof value === "number") return context?.source && String(value) !== context.source ? new ExactNumber(context.source) : value;
    // A record may have members of these names, which `String` would call.
    if (value && ["toString", "valueOf"].some((name) => Object.hasOwn(value, name)))
      Object.defineProperty(value, Symbol.toPrimitive, { value: () => JSON.stringify(value) });
    return value;
  });
}

/** Whether two values are the same JSON. */
export const isSame = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** An answer that is not a success. Its message is the API's `detail`, for people. */
class ApiError extends Error {
  constructor(status, problem) {
    super(problem?.detail ?? `the daemon answered ${status}`);
    this.status = status;
    this.errors = problem?.errors ?? [];
    this.dependents = problem?.dependents ?? [];
  }
}

/** A segment of an address. Half of a surrogate pair, which a record's text may have, would make `encodeURIComponent` throw. */
export const encoded = (segment) => encodeURIComponent(String(segment).replace(/\p{Surrogate}/gu, "\ufffd"));

/** `/v1` and the segments, each encoded. */
export const path = (...segments) => ["/v1", ...segments.map(encoded)].join("/");

/** The text of a query without the parameters that are null, undefined or empty. */
export function query(parameters) {
  const kept = Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return kept.length ? "?" + new URLSearchParams(kept).toString() : "";
}

async function request(method, address, { body, headers = {}, signal } = {}) {
  const isBytes = body instanceof Blob;
  const init = { method, signal, headers: { Accept: "application/json", ...headers } };
  // Proves that a write with the cookie of a session comes from this page.
  if (method !== "GET") init.headers["X-Repairminder-Page"] = "1";
  if (body !== undefined) {
    init.headers["Content-Type"] ??= isBytes ? body.type || "application/octet-stream" : "application/json";
    init.body = isBytes ? body : JSON.stringify(body);
  }
  let response;
  try {
    response = await fetch(address, init);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, { detail: "The daemon does not answer. Is it running? The page tries again by itself." });
  }
  const text = await response.text();
  const isJSON = /json/.test(response.headers.get("Content-Type") ?? "");
  const document = isJSON && text ? parse(text) : null;
  if (response.status === 401) location.hash = "#/session";
  if (!response.ok) throw new ApiError(response.status, document);
  return { document, tag: response.headers.get("ETag"), headers: response.headers };
}

export const get = async (address, parameters = {}, signal) =>
  (await request("GET", address + query(parameters), { signal })).document;

/** The document with its `ETag`, as `{document, tag}`. */
export const getTagged = (address, parameters = {}, signal) => request("GET", address + query(parameters), { signal });

export const send = (method, address, body, headers = {}) => request(method, address, { body, headers });

/** A key for a write that may be repeated without being done twice. */
export function idempotencyKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
