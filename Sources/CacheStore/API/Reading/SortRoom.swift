internal import SQLiteStore
internal import Synchronization

/// What the file of one sort may take of the disk: nothing of what is left for writes.
final class SortRoom: Sendable {
    /// How often it is asked before it looks at the disk again.
    private static let step = 100
    /// Writes take space too while a disk that is nearly full is read.
    private static let slack = 1 << 20

    private let space: @Sendable () -> DiskSpace?
    private let start: Int
    private let asked = Atomic(0)
    private let taken = Atomic(false)

    init(_ space: @escaping @Sendable () -> DiskSpace?) {
        self.space = space
        start = space()?.free ?? 0
    }

    /// It was asked when too little was left.
    var isTaken: Bool { taken.load(ordering: .relaxed) }

    /// False once the disk is nearly full, and has less than when the sort began.
    func isLeft() -> Bool {
        guard asked.add(1, ordering: .relaxed).newValue % Self.step == 0 else { return true }
        guard let space = space(), space.isLow, start - space.free > Self.slack else { return true }
        taken.store(true, ordering: .relaxed)
        return false
    }
}
