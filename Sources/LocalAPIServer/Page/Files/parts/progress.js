// How fast a sync goes, from the statuses that are read while it runs.

/** Remembers when the running sync was first seen; `of(status)` gives records a second and the seconds left. */
export function progressSpeed() {
  let begun = null;
  return {
    of(status) {
      if (status.state !== "syncing") {
        begun = null;
        return { rate: 0, left: 0 };
      }
      const rows = Object.values(status.entities).reduce((sum, entity) => sum + entity.rows, 0);
      const now = { at: performance.now() / 1000, rows, progress: status.progress };
      if (!begun || now.progress < begun.progress) begun = now;
      const seconds = now.at - begun.at;
      const gained = now.progress - begun.progress;
      if (seconds < 2) return { rate: 0, left: 0 };
      return {
        rate: Math.max(0, (now.rows - begun.rows) / seconds),
        left: gained > 0.01 ? ((1 - now.progress) * seconds) / gained : 0,
      };
    },
  };
}
