/// The paths that the client requests, filled in from the templates that the server routes by.
package enum LocalAPIPaths {
    package static let status = PathTemplate.status.text
    package static let sync = PathTemplate.sync.text
    package static let pauseSync = PathTemplate.pauseSync.text
    package static let resumeSync = PathTemplate.resumeSync.text
    package static let schema = PathTemplate.schema.text
    package static let batch = PathTemplate.batch.text
    package static let pending = PathTemplate.pendingChanges.text
    package static let conflicts = PathTemplate.conflicts.text
    package static let dashboard = PathTemplate.dashboard.text
    package static let drift = PathTemplate.drift.text
    package static let changes = PathTemplate.changes.text
    package static let reminders = PathTemplate.reminders.text
    package static let search = PathTemplate.search.text
    package static let pendingCount = PathTemplate.pendingCount.text
    package static let retryAllPending = PathTemplate.retryAllPending.text

    package static func schema(of entity: String) -> String { PathTemplate.entitySchema.path(entity) }

    package static func records(of entity: String) -> String { PathTemplate.records.path(entity) }

    package static func record(of entity: String, id: String) -> String { PathTemplate.record.path(entity, id) }

    package static func history(of entity: String, id: String) -> String { PathTemplate.history.path(entity, id) }

    package static func pendingChange(_ id: String) -> String { PathTemplate.pendingChange.path(id) }

    package static func retryPending(_ id: String) -> String { PathTemplate.retryPending.path(id) }

    package static func conflict(_ id: String) -> String { PathTemplate.conflict.path(id) }

    package static func resolveConflict(_ id: String) -> String { PathTemplate.resolveConflict.path(id) }

    package static func undoConflict(_ id: String) -> String { PathTemplate.undoConflict.path(id) }

    package static let hooks = PathTemplate.hooks.text

    package static func hook(_ name: String) -> String { PathTemplate.hook.path(name) }

    /// `action` is the last part of the address: `pause`, `resume`, `skip`, `retry` or `discard`.
    package static func hook(_ name: String, _ action: String) -> String { "\(hook(name))/\(action)" }

    package static func dismissReminder(_ id: String) -> String { PathTemplate.dismissReminder.path(id) }

    package static func snoozeReminder(_ id: String) -> String { PathTemplate.snoozeReminder.path(id) }
}
