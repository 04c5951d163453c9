import Glibc
import JSONText
import LocalAPI
import SystemCalls

/// Progress of work that can only be observed from outside.
extension ProgressLine {
    private static let pollPause = Duration.milliseconds(300)

    struct Sample: Sendable, Equatable {
        var text: ProgressText
        var done = 0
        var total: Int?
    }

    /// Does the work, and meanwhile shows what `sample` returns; nothing if standard error is no terminal.
    static func showing<Result>(
        _ sample: @escaping @Sendable () async -> Sample?, isOn: Bool = true, _ work: () async throws -> Result
    ) async throws -> Result {
        guard isOn, StandardStream.error.isTerminal else { return try await work() }
        let watcher = Task {
            var line = onStandardError("")
            while !Task.isCancelled {
                if let sample = await sample() {
                    line.begin(sample.text, at: sample.done)
                    line.show(sample.done, of: sample.total)
                }
                try? await Task.sleep(for: pollPause)
            }
            line.end()
        }
        do {
            let result = try await work()
            watcher.cancel()
            await watcher.value
            return result
        } catch {
            watcher.cancel()
            await watcher.value
            throw error
        }
    }

    // MARK: Syncs

    static func sync(_ client: LocalAPIClient) -> @Sendable () async -> Sample? {
        { (try? await client.get(LocalAPIPaths.status).body).flatMap(sample) }
    }

    /// Nil for a number too large to be a count: the difference of two would not be exact.
    private static func count(_ value: JSONText?) -> Int? {
        value?.integer.flatMap { (0...(1 << 53)).contains($0) ? $0 : nil }
    }

    /// Of the sync that a status shows: the rows of the entity that is pulled, else the share of the whole. Nil if none is
    /// under way.
    static func sample(of status: JSONText) -> Sample? {
        for (name, entity) in status["entities"]?.members ?? [] {
            guard let progress = entity["progress"], let rows = count(progress["rows"]) else { continue }
            return Sample(
                text: ProgressText(label: name, unit: .things("rows")), done: rows, total: count(progress["total"]))
        }
        guard let phase = status["phase"]?.string else { return nil }
        return Sample(
            text: ProgressText(label: phase), done: Int((ProgressText.share(of: status) ?? 0) * 1000), total: 1000)
    }

    // MARK: Files

    /// A copy of a database: `DatabaseCopy` makes a file that grows to about the size of the other, and verifies it.
    static func copy(of source: String, to target: String) -> @Sendable () async -> Sample? {
        {
            guard let total = size(of: source), let done = size(of: "\(target).part") else { return nil }
            guard done < total else { return Sample(text: ProgressText(label: "verifying")) }
            return Sample(text: ProgressText(label: "copying", unit: .bytes), done: done, total: total)
        }
    }

    /// A restore: the copy that `DatabaseRestore` makes next to the database, then what follows when it is whole.
    static func restore(of backup: String, to database: String) -> @Sendable () async -> Sample? {
        let fresh = "\(database).restore"
        let copying = Self.copy(of: backup, to: fresh)
        return {
            if size(of: fresh) != nil { return Sample(text: ProgressText(label: "restoring the queue")) }
            return await copying()
        }
    }

    /// A file that grows to `total` bytes.
    static func file(_ path: String, of total: Int?, _ label: String) -> @Sendable () async -> Sample? {
        { size(of: path).map { Sample(text: ProgressText(label: label, unit: .bytes), done: $0, total: total) } }
    }

    @Sendable private static func size(of path: String) -> Int? {
        stat(of: path)?.st_size
    }
}
