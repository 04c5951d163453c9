// The state of syncing in words.

import { counted } from "../core/format.js";

/** `{word, tone, sentence}` for a status; `tone` is good, busy, warn or bad. */
export function stateWords(status, isLinked = true) {
  if (!isLinked || !status)
    return { word: "No connection", tone: "bad", sentence: "The daemon does not answer. The page tries again by itself." };
  const waiting = counted(status.pending, "change");
  switch (status.state) {
    case "paused":
      return { word: "Paused", tone: "warn", sentence: `Nothing is sent or read until you resume. ${waiting} wait${status.pending === 1 ? "s" : ""}.` };
    case "offline":
      return { word: "Offline", tone: "warn", sentence: `The upstream cannot be reached. You can go on working: ${status.pending ? `${waiting} will be sent` : "changes are sent"} when it is back.` };
    case "error":
      return { word: "Needs attention", tone: "bad", sentence: status.missing ? `Not set up: ${status.missing}` : status.error ?? "The last sync failed." };
    case "syncing":
      return { word: "Syncing", tone: "busy", sentence: status.phase ? `${status.phase.charAt(0).toUpperCase()}${status.phase.slice(1)}.` : "Reading what is new." };
  }
  if (status.failed > 0 || status.conflicts > 0) {
    const parts = [
      status.failed > 0 && `${counted(status.failed, "change")} failed`,
      status.conflicts > 0 && `${counted(status.conflicts, "conflict")} wait${status.conflicts === 1 ? "s" : ""} for your choice`,
    ].filter(Boolean);
    return { word: "Needs you", tone: "bad", sentence: `${parts.join(", ")}. Everything else is in sync.` };
  }
  if (status.pending > 0) return { word: "Sending changes", tone: "busy", sentence: `${waiting} on the way to the upstream.` };
  return { word: "In sync", tone: "good", sentence: "Everything here is as the upstream has it." };
}
