import Synchronization
import TestSupport

@testable import Standby

/// A daemon's queue in memory, with the log of its steps. It outlives the daemon's process.
final class ModelQueue: Sendable {
    struct Change: Equatable {
        var id: Int64
        var key: String
        var isTried = false

        var text: String { "\(key) \(isTried ? "tried" : "new")" }

        init(id: Int64, key: String, isTried: Bool = false) {
            self.id = id
            self.key = key
            self.isTried = isTried
        }

        /// As another daemon left it.
        init?(_ text: String, id: Int64) {
            let parts = text.split(separator: " ")
            guard parts.count == 2 else { return nil }
            self.init(id: id, key: String(parts[0]), isTried: parts[1] == "tried")
        }
    }

    private struct State {
        var changes: [Change] = []
        var nextID: Int64 = 1
        /// The ids of the changes that had a step.
        var log: [Int64] = []
        /// All keys that were ever here.
        var known: Set<String> = []
        var mark: QueueMark?
    }

    private let state = Mutex(State())

    var changes: [Change] { state.withLock { $0.changes } }

    @discardableResult
    func append(_ key: String) -> Int64 {
        state.withLock { state in
            let id = state.nextID
            state.nextID += 1
            state.changes.append(Change(id: id, key: key))
            state.known.insert(key)
            state.log.append(id)
            return id
        }
    }

    func mark(_ id: Int64) { change(id) { $0.isTried = true } }

    func rename(_ id: Int64, to key: String) {
        change(id) { $0.key = key }
        state.withLock { _ = $0.known.insert(key) }
    }

    func remove(_ id: Int64) {
        state.withLock { state in
            state.changes.removeAll { $0.id == id }
            state.log.append(id)
        }
    }

    private func change(_ id: Int64, _ body: (inout Change) -> Void) {
        state.withLock { state in
            for index in state.changes.indices where state.changes[index].id == id { body(&state.changes[index]) }
            state.log.append(id)
        }
    }

    /// As a fault of the log would have it.
    func removeWithoutStep(_ id: Int64) { state.withLock { state in state.changes.removeAll { $0.id == id } } }

    func markWithoutStep(_ id: Int64) {
        state.withLock { state in
            for index in state.changes.indices where state.changes[index].id == id {
                state.changes[index].isTried = true
            }
        }
    }

    /// As a file that is put back to an older state.
    func forget(_ id: Int64) {
        state.withLock { state in
            let forgotten = state.changes.filter { $0.id == id }.map(\.key)
            state.changes.removeAll { $0.id == id }
            state.known.subtract(forgotten)
        }
    }

    /// Makes queue and etcd agree under a new lease.
    func prepare(_ store: QueueStore, _ last: Lease.Last) async throws {
        let mark = try await store.prepare(last, known: state.withLock { $0.mark }) { self.take($0, $1) }
        state.withLock { $0.mark = mark }
    }

    private func take(_ texts: [String], _ origin: QueueStore.Origin) {
        state.withLock { state in
            var changes = origin == .other ? [] : state.changes
            for text in texts {
                guard let change = Change(text, id: state.nextID) else { continue }
                guard origin != .own || !state.known.contains(change.key) else { continue }
                state.known.insert(change.key)
                changes.removeAll { $0.key == change.key }
                state.nextID += 1
                changes.append(change)
            }
            state.log += state.changes.map(\.id) + changes.map(\.id)
            state.changes = changes
        }
    }

    func news(since position: Int64?) -> QueueStore.News {
        state.withLock { state in
            let all = state.changes.map { QueueStore.Entry(id: $0.id, key: $0.key, text: $0.text) }
            guard let position else {
                return QueueStore.News(
                    position: Int64(state.log.count), isWhole: true, entries: all, gone: [], count: all.count)
            }
            let touched = Set(state.log[Int(position)...])
            let there = all.filter { touched.contains($0.id) }
            return QueueStore.News(
                position: Int64(state.log.count), isWhole: false, entries: there,
                gone: touched.subtracting(there.map(\.id)).sorted(), count: all.count)
        }
    }

    func store(
        _ lease: Lease, most: Int = 1 << 20, tooLarge: @escaping @Sendable (QueueStore.Entry) -> Void = { _ in }
    ) -> QueueStore {
        QueueStore(lease, most: most, news: { self.news(since: $0) }, tooLarge: tooLarge)
    }
}
