import Glibc
import JSONText
import LocalAPI

/// Progress of work that can only be observed from outside.
extension ProgressLine {
    private static let pollPause = Duration.milliseconds(300)

    struct Sample: Sendable {
        var label: String
        var done: Int
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
                    line.label = sample.label
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

    /// The sync that runs: its phase, the rows that there are, and how much is done.
    static func sync(_ client: LocalAPIClient) -> @Sendable () async -> Sample? {
        {
            guard let status = try? await client.get(LocalAPIPaths.status).body else { return nil }
            let rows = (status["entities"]?.members ?? []).reduce(0) { $0 + ($1.value["rows"]?.integer ?? 0) }
            let phase = status["phase"]?.string ?? "syncing"
            let share = status["progress"].flatMap { Double($0.plain) } ?? 0
            return Sample(label: "\(phase), \(rows) rows", done: Int(min(max(share, 0), 1) * 1000), total: 1000)
        }
    }

    /// A file that grows to about the size of another.
    static func copy(of source: String, to target: String) -> @Sendable () async -> Sample? {
        {
            guard let total = size(of: source), let done = size(of: target) else { return nil }
            let isCopied = done >= total
            return Sample(label: isCopied ? "verifying" : "copying", done: done, total: isCopied ? nil : total)
        }
    }

    @Sendable private static func size(of path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }
}
