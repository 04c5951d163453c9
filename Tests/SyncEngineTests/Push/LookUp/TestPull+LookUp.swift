import CacheStore
import EntitySchema
import JSONText
import TestSupport
import Testing
import Upstream

@testable import SyncEngine

/// Creations whose answer was lost, and what a look-up says about them.
extension TestPull {
    /// Queues the creation of an order that was sent this long ago; nil for one without an attempt.
    func lostCreation(_ body: JSONText, sent age: Duration? = .seconds(120)) async throws -> OutboxChange {
        let now = clock.timestamp
        _ = try await store.create("orders", body: body, at: now)
        var change = try #require(try store.readyChanges(limit: 1, at: now).first)
        change.lastAttemptAt = age.map { now - $0 }
        return change
    }

    /// `mostRecords`: how many records of a list are read; nil for as many as by default.
    func lookUp(_ change: OutboxChange, mostRecords: Int? = nil) async throws -> CreateReconciler.Finding {
        let now = clock.timestamp
        let environment = SyncEnvironment(
            store: store, upstream: upstream, settings: SyncSettings(),
            time: SyncTime(clock: clock, now: { now }, serverOffset: { .zero }), random: { 0.5 },
            callbacks: SyncCallbacks(), log: .silent)
        var reconciler = try CreateReconciler(environment, upstream, change, #require(schema["orders"]))
        if let mostRecords { reconciler.mostRecords = mostRecords }
        return try await reconciler.finding()
    }
}

/// Each is nil, or false, for another finding.
extension CreateReconciler.Finding {
    /// The key of the record that was found.
    var key: JSONText? { if case .applied(let found) = self { found.record["id"] } else { nil } }

    /// Why a person has to decide.
    var doubt: String? { if case .unknowable(let reason) = self { reason } else { nil } }

    /// Why the upstream is asked again later.
    var delay: String? { if case .notYet(let reason) = self { reason } else { nil } }

    var isAbsent: Bool { if case .absent = self { true } else { false } }
}
