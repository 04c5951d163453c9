/// The address of one call of the local API, its variable parts in braces: `/v1/pending/{id}/retry`.
///
/// The server's routes and its metric labels, and the client's paths, all come from these values.
package struct PathTemplate: Sendable, Hashable {
    package let text: String

    package init(_ text: String) { self.text = text }

    /// The path with each variable part, in order, replaced by one of `names`, percent-encoded.
    package func path(_ names: String...) -> String {
        var rest = names[...]
        let segments = text.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            guard segment.hasPrefix("{"), let name = rest.popFirst() else { return String(segment) }
            return PercentEncoding.segment(name)
        }
        return segments.joined(separator: "/")
    }
}

extension PathTemplate {
    // MARK: The daemon

    package static let statusPage = PathTemplate("/")
    package static let pageFile = PathTemplate("/page/{file}")
    package static let alive = PathTemplate("/healthz")
    package static let ready = PathTemplate("/readyz")
    package static let metrics = PathTemplate("/metrics")
    package static let openAPI = PathTemplate("/openapi.json")
    package static let signIn = PathTemplate("/v1/_sign-in")
    package static let session = PathTemplate("/v1/_session")
    package static let index = PathTemplate("/v1")
    package static let status = PathTemplate("/v1/status")
    package static let dashboard = PathTemplate("/v1/dashboard")
    package static let schema = PathTemplate("/v1/schema")
    package static let entitySchema = PathTemplate("/v1/schema/{entity}")

    // MARK: Syncing

    package static let sync = PathTemplate("/v1/sync")
    package static let pauseSync = PathTemplate("/v1/sync/pause")
    package static let resumeSync = PathTemplate("/v1/sync/resume")
    package static let drift = PathTemplate("/v1/drift")
    package static let activity = PathTemplate("/v1/_activity")
    package static let doctor = PathTemplate("/v1/_doctor")

    // MARK: Queue, conflicts and reminders

    package static let pendingChanges = PathTemplate("/v1/pending")
    package static let pendingCount = PathTemplate("/v1/pending/count")
    package static let retryAllPending = PathTemplate("/v1/pending/retry")
    package static let pendingChange = PathTemplate("/v1/pending/{id}")
    package static let retryPending = PathTemplate("/v1/pending/{id}/retry")
    package static let conflicts = PathTemplate("/v1/conflicts")
    package static let conflict = PathTemplate("/v1/conflicts/{id}")
    package static let resolveConflict = PathTemplate("/v1/conflicts/{id}/resolve")
    package static let undoConflict = PathTemplate("/v1/conflicts/{id}/undo")
    package static let reminders = PathTemplate("/v1/reminders")
    package static let reminder = PathTemplate("/v1/reminders/{id}")
    package static let dismissReminder = PathTemplate("/v1/reminders/{id}/dismiss")
    package static let snoozeReminder = PathTemplate("/v1/reminders/{id}/snooze")

    // MARK: Hooks

    package static let hooks = PathTemplate("/v1/_hooks")
    package static let hook = PathTemplate("/v1/_hooks/{id}")
    package static let pauseHook = PathTemplate("/v1/_hooks/{id}/pause")
    package static let resumeHook = PathTemplate("/v1/_hooks/{id}/resume")
    package static let skipHook = PathTemplate("/v1/_hooks/{id}/skip")
    package static let retryHook = PathTemplate("/v1/_hooks/{id}/retry")
    package static let discardParked = PathTemplate("/v1/_hooks/{id}/discard")

    // MARK: Changes and records

    package static let changes = PathTemplate("/v1/changes")
    package static let events = PathTemplate("/v1/events")
    package static let search = PathTemplate("/v1/search")
    package static let batch = PathTemplate("/v1/_batch")
    package static let records = PathTemplate("/v1/{entity}")
    package static let record = PathTemplate("/v1/{entity}/{id}")
    package static let history = PathTemplate("/v1/{entity}/{id}/history")
    package static let content = PathTemplate("/v1/{entity}/{id}/content")
    package static let thumbnail = PathTemplate("/v1/{entity}/{id}/thumbnail")
    package static let related = PathTemplate("/v1/{entity}/{id}/{relation}")
}
