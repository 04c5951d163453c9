// The content of a record, usually a picture: shown, added, replaced, deleted.

import { path, send } from "../core/api.js";
import { actions, button, el, link, replace, soft } from "../core/dom.js";
import { size } from "../core/format.js";
import { confirmed } from "./dialog.js";
import { attempt, say } from "./notices.js";

const pictures = ["image/jpeg", "image/png", "image/gif", "image/webp"];

export function recordContent(entity, id) {
  const plan = entity.content;
  const address = path(entity.name, id, "content");
  const place = el("div");
  const input = el("input", { type: "file", accept: plan.types.join(","), "aria-label": "Choose a file", onchange: upload });

  function show() {
    const picture = el("img", {
      class: "picture", alt: "The content of this record", src: `${path(entity.name, id, "thumbnail")}?size=512`,
      onerror: () => replace(place, soft("No picture can be shown.")),
    });
    replace(place, el("a", { href: address }, picture));
  }
  async function upload() {
    const [file] = input.files;
    if (!file) return;
    if (plan.max_size && file.size > plan.max_size) return say(`The file has ${size(file.size)}; at most ${size(plan.max_size)} are accepted.`, true);
    const type = file.type || "application/octet-stream";
    const isDone = await attempt(() => send("PUT", address, file, { "Content-Type": type }), "Kept here, and sent to the upstream");
    input.value = "";
    if (isDone && isPicture) show();
  }
  async function remove() {
    if (!(await confirmed("Delete the content?", el("p", {}, "The record stays."), "Delete"))) return;
    if (await attempt(() => send("DELETE", address), "Deleted here; the deletion is sent")) replace(place);
  }
  const isPicture = plan.types.length === 0 || plan.types.some((type) => pictures.includes(type) || type === "image/*");
  return el(
    "section",
    {},
    el("h2", {}, "Content"),
    place,
    actions(
      (plan.upload || plan.create) && el("label", {}, el("span", { class: "hidden-words" }, "Add or replace the content"), input),
      // Only on request, because content that is not here is then fetched from the upstream.
      isPicture && button("Show the picture", show),
      link(address, "Open"),
      plan.delete && button("Delete content", remove, { class: "danger" }),
    ),
  );
}
