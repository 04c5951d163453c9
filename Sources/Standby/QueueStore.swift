internal import Synchronization

/// The queue as etcd has it for the daemon that takes over: one key for each change, removed when it has left the queue.
///
/// Every write is a transaction that compares the lease's revision, so a former holder can neither add nor remove anything.
package actor QueueStore {
    /// One queued change.
    package struct Entry: Sendable, Equatable {
        /// In this daemon's queue.
        package var id: Int64
        /// The same in every daemon.
        package var key: String
        package var text: String

        package init(id: Int64, key: String, text: String) {
            self.id = id
            self.key = key
            self.text = text
        }
    }

    /// What has changed in the queue.
    package struct News: Sendable {
        package var position: Int64
        /// Whether `entries` are all that is queued.
        package var isWhole: Bool
        package var entries: [Entry]
        package var gone: [Int64]
        /// How many changes are queued.
        package var count: Int

        package init(position: Int64, isWhole: Bool, entries: [Entry], gone: [Int64], count: Int) {
            self.position = position
            self.isWhole = isWhole
            self.entries = entries
            self.gone = gone
            self.count = count
        }
    }

    /// What the queue of this daemon is worth beside what etcd has.
    package enum Origin: Sendable, Equatable {
        /// No other daemon has held the lease since. It has everything, unless its file was put back to an older state.
        case own
        /// Another daemon has held the lease, and what etcd lacks has been settled or was never acknowledged.
        case other
        /// No daemon has stored its queue yet, or etcd does not have any more what this daemon once stored there.
        case none
    }

    private let lease: Lease
    private let news: @Sendable (_ since: Int64?) throws -> News
    private let tooLarge: @Sendable (Entry) -> Void

    /// The texts that etcd has, by key; nil for one whose storing was not answered.
    private var stored: [String: String?] = [:]
    /// The keys of this daemon's changes.
    private var keys: [Int64: String] = [:]
    /// The place in the change log up to which etcd has everything; nil before the first time under a lease.
    private var position: Int64?
    /// The lease's revision for which all that is true.
    private var revision: Int64?

    /// In bytes, of all texts that etcd has or was asked to have.
    private var size = 0
    private nonisolated let full = Atomic(false)

    /// Whether the queue is as large as a daemon that takes over can hold in its memory. This daemon holds it as well.
    package nonisolated var isFull: Bool { full.load(ordering: .relaxed) }

    /// In bytes. Taking over needs several times as much.
    private let most: Int

    /// How often the queue was read.
    private var readings = 0
    private var wanted = 0
    private var round: Task<(through: Int, error: StandbyError?), Never>?

    /// etcd takes 128 steps, and 1.5 MiB, in one transaction.
    private static let mostSteps = 100
    private static let mostBytes = 1_000_000
    private static let largestEntry = 1_300_000

    /// `news` reads what has changed in the queue since a place in its log; all of it for nil. `tooLarge` takes a change
    /// that etcd cannot hold, each time that it is left out. Beyond `most` bytes the queue is full.
    package init(
        _ lease: Lease, most: Int = 64 << 20, news: @escaping @Sendable (_ since: Int64?) throws -> News,
        tooLarge: @escaping @Sendable (Entry) -> Void
    ) {
        self.lease = lease
        self.most = most
        self.news = news
        self.tooLarge = tooLarge
    }

    // MARK: Storing

    /// Returns when etcd has all that was queued when this was called. Calls at the same time share a transaction.
    package func store() async throws(StandbyError) {
        wanted += 1
        let ticket = wanted
        while true {
            let (through, error) = await (round ?? beginRound()).value
            guard ticket <= through else { continue }
            if let error { throw error }
            return
        }
    }

    private func beginRound() -> Task<(through: Int, error: StandbyError?), Never> {
        let through = wanted
        let task = Task { () -> (through: Int, error: StandbyError?) in
            let error = await self.write()
            self.round = nil
            return (through, error)
        }
        round = task
        return task
    }

    private func write() async -> StandbyError? {
        do throws(StandbyError) {
            guard let held = lease.valid, held.revision == revision else { throw .notHolder }
            let news = try read()
            try await write(steps(for: news), under: held.revision)
            position = news.position
            return nil
        } catch {
            // What etcd has of these steps is not known: all of the queue is compared next.
            position = nil
            return error
        }
    }

    /// How often all of the queue is read, in case that its log lacks a step.
    private static let wholeEvery = 100

    private func read() throws(StandbyError) -> News {
        do {
            readings += 1
            let news = try news(readings.isMultiple(of: Self.wholeEvery) ? nil : position)
            let added = Set(news.entries.map(\.id)).subtracting(keys.keys).count
            let removed = news.gone.count { keys[$0] != nil }
            return try news.isWhole || keys.count + added - removed == news.count ? news : self.news(nil)
        } catch {
            throw .refused("the queue could not be read: \(error)")
        }
    }

    /// Additions first: what is removed may have become something else.
    private func steps(for news: News) -> [EtcdGateway.Step] {
        var (puts, removed): ([EtcdGateway.Step], [String]) = ([], [])
        for entry in news.entries {
            if let old = keys[entry.id], old != entry.key { removed.append(old) }
            keys[entry.id] = entry.key
            guard stored[entry.key] != .some(.some(entry.text)) else { continue }
            guard entry.text.utf8.count <= Self.largestEntry else {
                tooLarge(entry)
                continue
            }
            puts.append(.put(key: etcdKey(entry.key), value: entry.text))
            keep(nil, as: entry.key)
            stored[entry.key] = .some(nil)
        }
        if news.isWhole {
            removed = Array(Set(stored.keys).subtracting(news.entries.map(\.key)))
            keys = Dictionary(news.entries.map { ($0.id, $0.key) }) { $1 }
        } else {
            removed += news.gone.compactMap { keys[$0] }
        }
        return puts + removed.sorted().map { .delete(key: etcdKey($0)) }
    }

    private func etcdKey(_ key: String) -> String { lease.settings.queuePrefix + key }

    private func write(_ steps: [EtcdGateway.Step], under revision: Int64) async throws(StandbyError) {
        var rest = steps[...]
        while !rest.isEmpty {
            var size = 0
            let part = rest.prefix(Self.mostSteps).prefix { step in
                size += step.size
                return size == step.size || size <= Self.mostBytes
            }
            try await lease.write(Array(part), under: revision)
            for step in part { note(step) }
            rest = rest.dropFirst(part.count)
        }
        full.store(size > most, ordering: .relaxed)
    }

    /// etcd has carried out the step.
    private func note(_ step: EtcdGateway.Step) {
        let length = lease.settings.queuePrefix.count
        switch step {
        case .put(let key, let value, _): keep(value, as: String(key.dropFirst(length)))
        case .delete(let key):
            let key = String(key.dropFirst(length))
            keep(nil, as: key)
            keys = keys.filter { $0.value != key }
        case .read: break
        }
    }

    /// Nil for a key that etcd does not have.
    private func keep(_ text: String?, as key: String) {
        if case .some(.some(let former)) = stored[key] { size -= former.utf8.count }
        stored[key] = text.map { .some($0) }
        size += text?.utf8.count ?? 0
    }

    // MARK: Taking over

    /// Makes queue and etcd agree after the lease was acquired: first `takeOver` gets the texts that etcd has; then etcd gets
    /// what it lacks. Throws whatever `takeOver` throws, and changes nothing if etcd has another account's queue.
    ///
    /// `known` is the mark that this daemon's last `prepare` returned; nil if there was none. Returns the new one.
    package func prepare(
        _ last: Lease.Last, known: QueueMark?, takeOver: @Sendable (_ texts: [String], Origin) async throws -> Void
    ) async throws -> QueueMark {
        guard let held = lease.valid else { throw StandbyError.notHolder }
        if let former = last.former { try last.own.requireAccount(of: former) }
        var found: [String: String?] = [:]
        let prefix = lease.settings.queuePrefix
        for entry in try await lease.gateway.all(prefix) {
            found[String(entry.key.dropFirst(prefix.count))] = entry.value
        }
        try await takeOver(found.sorted { $0.key < $1.key }.compactMap(\.value), Self.origin(last, known))
        (stored, keys, position, revision) = (found, [:], nil, held.revision)
        size = found.values.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
        try await store()
        // From here on, this daemon's queue has everything.
        try await lease.write(
            [.put(key: lease.settings.lastHolderKey, value: last.own.text)], under: held.revision)
        return last.own
    }

    private static func origin(_ last: Lease.Last, _ known: QueueMark?) -> Origin {
        guard let former = last.former else { return .none }
        guard former.database != last.own.database else { return .own }
        return known?.isForgotten(by: former) ?? false ? .none : .other
    }
}

extension EtcdGateway.Step {
    fileprivate var size: Int {
        switch self {
        case .put(let key, let value, _): key.utf8.count + value.utf8.count
        case .delete(let key), .read(let key): key.utf8.count
        }
    }
}
