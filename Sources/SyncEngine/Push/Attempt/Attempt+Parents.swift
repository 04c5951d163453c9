internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import Synchronization

/// Records whose single record has the children that were sent. A payment changes its order's balance, and the list may
/// show that on a page that no pull reads, or not at all.
extension Attempt {
    /// Makes the parents outdated after an accepted change, so that the next pull reads them again. If that cannot be
    /// written, they come in their turn.
    func forgetParents(after outcome: PushOutcome) async {
        guard outcome.isAccepted else { return }
        for (parent, detail) in schema.parents(of: entity) where detail.isInSingle {
            guard let by = detail.by else { continue }
            // It may have been moved from one to another.
            let keys = [change.address, change.record].compactMap { entity.value(of: by, in: $0) }
                .filter { $0.kind != .null }.map(\.plain)
            guard !keys.isEmpty, (try? await store.forgetFetched(keys, of: parent.name, at: now())) != nil else {
                continue
            }
            pusher.changedParents.add(parent.name)
        }
    }
}

extension PushOutcome {
    fileprivate var isAccepted: Bool {
        switch self {
        case .acknowledged, .found, .vanished: true
        case .gone, .notSent, .waiting, .failed: false
        }
    }
}

/// The entities with records that are outdated since their children were sent.
final class ChangedParents: Sendable {
    private let names = Mutex<Set<String>>([])

    var all: Set<String> { names.withLock { $0 } }

    func add(_ name: String) { names.withLock { _ = $0.insert(name) } }
}
