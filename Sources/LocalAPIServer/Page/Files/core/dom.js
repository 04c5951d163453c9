// Builds elements. A string becomes text, never markup, so a record can show whatever it likes.

const properties = new Set(["value", "checked", "disabled", "selected", "indeterminate"]);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (properties.has(name)) node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...parts(children));
  return node;
}

const parts = (children) => children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);

/** An element. `onclick: f` listens; null and false leave an attribute or a child out. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function replace(node, ...children) {
  node.replaceChildren(...parts(children));
}

/**
 * As `replace`, but what looks the same stays, with its listeners and the focus. If what had the focus goes, the focus goes to
 * the link or button of the same name, or to the heading.
 */
export function renew(node, ...children) {
  const focused = node.contains(document.activeElement) && document.activeElement;
  const old = [...node.childNodes];
  // A node that is there already must not be moved, which would take its focus.
  const next = parts(children).map((child) => {
    const one = child instanceof Node ? child : new Text(child);
    const same = old.includes(one) ? old.indexOf(one) : old.findIndex((other) => other.isEqualNode(one));
    return same < 0 ? one : old.splice(same, 1)[0];
  });
  for (const one of old) one.remove();
  next.forEach((one, index) => {
    if (node.childNodes[index] !== one) node.insertBefore(one, node.childNodes[index] ?? null);
  });
  if (!focused || focused === document.activeElement) return;
  const name = (one) => one.getAttribute("aria-label") ?? one.getAttribute("href") ?? one.textContent;
  const same = [...node.querySelectorAll("a, button")].find((one) => name(one) === name(focused));
  (same ?? document.querySelector("main h1"))?.focus({ preventScroll: true });
}

export const link = (href, ...children) => el("a", { href }, ...children);
export const soft = (...children) => el("p", { class: "soft" }, ...children);
export const actions = (...children) => el("div", { class: "actions" }, ...children);
/** `tone` is warn or bad. */
export const notice = (tone, ...children) => el("p", { class: `notice ${tone}`, dir: "auto" }, ...children);
/** `choices` are `[href, words, isCurrent]`. */
export const tabs = (label, choices) =>
  el("nav", { class: "tabs", "aria-label": label }, choices.map(([href, words, isCurrent]) => el("a", { href, "aria-current": isCurrent && "true" }, words)));

/** After an action: if the focus was lost by it, it goes back to the button, or to the heading. */
export function keepFocus(button) {
  if (document.activeElement !== document.body) return;
  (button.isConnected ? button : document.querySelector("main h1"))?.focus({ preventScroll: true });
}

/** A button that is busy while its action runs. */
export function button(label, action, attributes = {}) {
  const node = el("button", { type: "button", ...attributes, onclick: press }, label);
  async function press(event) {
    node.disabled = true;
    try {
      await action(event);
    } finally {
      node.disabled = false;
      keepFocus(node);
    }
  }
  return node;
}

/** A table that scrolls by itself where the window is too narrow for it; `numeric` are columns of numbers. */
export function table(label, columns, rows, numeric = []) {
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": label },
    el(
      "table",
      {},
      el("thead", {}, el("tr", {}, columns.map((column) => el("th", { scope: "col", class: numeric.includes(column) && "number" }, column)))),
      el("tbody", {}, rows),
    ),
  );
}

/** Runs `action` at most once in `delay` milliseconds. */
export function throttled(delay, action) {
  let timer = null;
  return () => {
    timer ??= setTimeout(() => {
      timer = null;
      action();
    }, delay);
  };
}
