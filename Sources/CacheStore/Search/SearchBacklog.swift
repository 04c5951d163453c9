internal import GRDB
internal import Synchronization

/// The most changed records that may wait for the search index, and their bytes: those at the start, and each one noted since.
/// Before there are many, the index need not be looked at.
final class SearchBacklog: Sendable {
    private let records = Atomic(0)
    private let bytes = Atomic(0)

    func add(_ count: Int, bytes size: Int = 0) {
        records.add(count, ordering: .relaxed)
        bytes.add(size, ordering: .relaxed)
    }

    var isDue: Bool {
        records.load(ordering: .relaxed) > SearchCatchUp.mostWaiting
            || bytes.load(ordering: .relaxed) > SearchIndex.mostBytes
    }

    func work(_ catchUp: SearchCatchUp, _ db: Database) throws {
        try catchUp.run(db)
        records.store(0, ordering: .relaxed)
        bytes.store(0, ordering: .relaxed)
    }
}
