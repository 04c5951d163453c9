import CacheStore
import Dispatch
import EntitySchema
import Logging
import SQLiteStore

/// Keeps the mirror up to date: after a commit it rewrites the files of the changed entities, at most once a second, on
/// its own thread. Reads and writes of records never wait for it.
struct MirrorKeeper {
    let folder: MirrorFolder
    let store: CacheStore
    let schema: EntitySchema
    let upstream: String?
    let clock: any Clock<Duration>
    let log: Logger

    private static let pause = Duration.seconds(1)
    private let queue = DispatchQueue(label: "mirror", qos: .utility)

    /// Runs until the task is cancelled. Retries a failed write a minute later.
    func run() async throws {
        var written: Int64?
        while !Task.isCancelled, !store.signal.isClosed {
            let commits = store.signal.commits
            var hasFailed = false
            do {
                written = try await onQueue { [written] in try write(since: written) }
            } catch {
                hasFailed = true
                log.warning("writing the mirror failed; will retry", metadata: ["error": "\(error)"])
            }
            try await clock.sleep(for: hasFailed ? Self.pause * 60 : Self.pause)
            if !hasFailed { await store.signal.wait(after: commits) }
        }
    }

    /// Writes what callers wrote in the last second: the queue, and the records that are only here. The others can be many,
    /// and come back from the upstream. Call this when `run` has ended and no more requests come.
    func finish() {
        do {
            guard try folder.origin()?.epoch == store.epoch else { return }
            try folder.requireOwn()
            try folder.writeQueue(of: store)
            for entity in schema.entities where entity.isLocal { try folder.writeRecords(of: entity.name, store) }
        } catch {
            log.warning("writing the mirror failed", metadata: ["error": "\(error)"])
        }
    }

    /// Writes the changes since `position` in the change log, or everything for nil, and returns the new position.
    func write(since position: Int64?) throws -> Int64 {
        let origin = MirrorFolder.Origin(
            schema: schema.name, upstream: upstream, account: try store.account(), epoch: store.epoch)
        let changed: (entities: Set<String>?, position: Int64) =
            if let position { try store.changedEntities(since: position) } else { (nil, try store.position()) }
        if position == nil { try prepare(origin) }
        // Each time, because its rights can change.
        try folder.requireOwn()
        if changed.entities != [] {
            try folder.writeQueue(of: store)
            if !schema.reminders.isEmpty { try folder.writeReminders(of: store) }
        }
        let entities = schema.entities.map(\.name).filter { changed.entities?.contains($0) ?? true }
        for entity in entities { try folder.writeRecords(of: entity, store) }
        if try folder.origin() != origin { try folder.write(origin) }
        if !entities.isEmpty {
            log.debug("wrote the mirror", metadata: ["entities": "\(entities.joined(separator: ","))"])
        }
        return changed.position
    }

    private func prepare(_ origin: MirrorFolder.Origin) throws {
        try folder.make()
        if let other = try folder.origin(), other.epoch != origin.epoch {
            let place = try folder.setAside(other)
            log.notice(
                "the mirror belonged to another database; moved it aside", metadata: ["folder": "\(place)"])
        }
        // From here on the directory belongs to this cache, even if a crash leaves some files unwritten.
        try folder.write(origin)
    }

    private func onQueue<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try work() }) }
        }
    }
}
