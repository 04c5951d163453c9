// How fast a sync goes, from the statuses that are read while it runs.

/** Remembers when the running sync was first seen; `of(status)` gives records a second and the seconds left. */
export function progressSpeed() {
  let begun = null;
  /** The most records that each list was read to: its figure is gone when it ends. */
  let read = {};
  return {
    of(status) {
      if (status.state !== "syncing" || status.progress < begun?.progress) [begun, read] = [null, {}];
      if (status.state !== "syncing") return { rate: 0, left: 0 };
      for (const [name, { progress }] of Object.entries(status.entities)) read[name] = Math.max(read[name] ?? 0, progress?.rows ?? 0);
      const rows = Object.values(read).reduce((sum, one) => sum + one, 0);
      const now = { at: performance.now() / 1000, rows, progress: status.progress };
      begun ??= now;
      const seconds = now.at - begun.at;
      const gained = now.progress - begun.progress;
      if (seconds < 2) return { rate: 0, left: 0 };
      return {
        rate: (now.rows - begun.rows) / seconds,
        left: gained > 0.01 ? ((1 - now.progress) * seconds) / gained : 0,
      };
    },
  };
}
