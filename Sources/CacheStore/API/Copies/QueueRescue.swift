package import EntitySchema
internal import Foundation
internal import GRDB
internal import JSONText
internal import SQLiteStore
package import Secrets

/// Replaces a damaged database with a new one that has every queued change that can still be read.
///
/// The damaged file is kept under a dated name with its log. Changes are read from it record by record, then from the
/// file without its log, then from the newest backup. A change that only an older source has, and that the newer ones
/// do not report as ended, may have been sent meanwhile: it is retried as an attempt with unknown outcome.
package struct QueueRescue: Sendable {
    /// The outcome of a rescue. Stored in the new database, for `status` and `doctor`.
    package struct Report: Codable, Sendable, Equatable {
        package var at: String
        package var reason: String
        /// The damaged file's new name, in the same folder.
        package var setAside: String
        /// The number of changes in the queue again, and how many of them may have been sent before.
        package var rescued: Int
        package var uncertain: Int
        /// The ids of changes that could not be read.
        package var lost: [Int64]
        /// Whether more changes may be missing.
        package var mayMissMore: Bool

        enum CodingKeys: String, CodingKey {
            case at, reason, rescued, uncertain, lost
            case setAside = "set_aside"
            case mayMissMore = "may_miss_more"
        }
    }

    let path: String
    let schema: EntitySchema
    let sealer: SecretSealer
    /// Newest first.
    let backups: [String]
    let makeID: @Sendable () -> String

    package init(
        path: String, schema: EntitySchema, sealer: SecretSealer, backups: [String],
        makeID: @escaping @Sendable () -> String
    ) {
        self.path = path
        self.schema = schema
        self.sealer = sealer
        self.backups = backups
        self.makeID = makeID
    }

    /// `reason` is how the damage was noticed. Nothing else may have the file open. When this throws, nothing has
    /// changed.
    package func run(reason: String, at now: Timestamp) async throws -> Report {
        var merge = QueueMerge()
        DamagedFile(path: path, backups: backups).forEachReading { merge.add($0) }
        let queue = merge.queue
        let report = Report(
            at: now.description, reason: reason,
            setAside: URL(fileURLWithPath: "\(path).damaged-\(DatabaseFile.stamp(now))").lastPathComponent,
            rescued: queue.changes.count, uncertain: merge.uncertain, lost: queue.isComplete ? [] : queue.lost,
            mayMissMore: !queue.isComplete && queue.logBegins == nil)
        try await replace(with: queue, report, at: now)
        return report
    }

    private func replace(with queue: QueueSnapshot, _ report: Report, at now: Timestamp) async throws {
        let fresh = path + ".rescue"
        DatabaseFile(fresh).delete()
        let store = try CacheStore(path: fresh, schema: schema, sealer: sealer, makeID: makeID)
        var sealed = queue
        // Without settings, changes are taken to be sealed as the schema says.
        if !SealedPlaces.areReadable(in: queue.settings) { sealed.settings = [:] }
        do {
            try await store.replaceQueue(with: sealed, at: now)
            for (entity, records) in queue.local.records where schema[entity]?.isLocal == true {
                _ = try await store.importRecords(records, of: entity, at: now)
            }
            for name in ["account", "schema", "upstream"] {
                if let value = queue.settings[name] { try await store.setSetting(name, to: value) }
            }
            let note = try JSONEncoder().encode(report)
            try await store.setSetting(Self.noteSetting, to: String(decoding: note, as: UTF8.self))
            try store.close()
        } catch {
            try? store.close()
            throw error
        }
        try DatabaseFile(path).replace(with: fresh, .damaged, at: now)
    }

    // MARK: The note

    static let noteSetting = "rescue"

    /// The report of the last rescue of the database at `path`, for as long as the damaged file is kept.
    ///
    /// Another program can have written it: users are told to delete the file that it names, so that is no other one.
    package static func note(_ text: String?, at path: String) -> Report? {
        guard let text, let report = try? JSONDecoder().decode(Report.self, from: Data(text.utf8)),
            DatabaseFile.isOfDamaged(report.setAside)
        else { return nil }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        return FileManager.default.fileExists(atPath: "\(folder)/\(report.setAside)") ? report : nil
    }
}

extension QueueRescue.Report {
    /// The report as text, for the log and for users.
    package var summary: String {
        var parts = [rescued == 1 ? "1 queued change was rescued" : "\(rescued) queued changes were rescued"]
        if uncertain > 0 { parts.append("\(uncertain) of them from an older copy, which may have been sent before") }
        if !lost.isEmpty { parts.append("lost: changes \(lost.map(String.init).joined(separator: ", "))") }
        if mayMissMore { parts.append("more changes may be missing that cannot be identified") }
        return parts.joined(separator: "; ")
    }
}
