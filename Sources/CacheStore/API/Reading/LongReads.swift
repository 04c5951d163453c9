internal import Dispatch
internal import SQLiteStore

/// Reads that may take long, away from the threads that serve everybody: two lists and one other read at a time. Callers take turns.
///
/// The log of the database begins again only when no read holds a snapshot of it. While it is too long for that, a read waits until
/// no other is under way and the log has been copied, and a list ends after half a minute. So it does not grow without end, however
/// reads overlap.
final class LongReads: Sendable {
    private let readers: ReaderPool
    private let lists = FairThreads("long-reads", count: 2)
    private let others = FairThreads("other-reads", count: 1)
    private let space: @Sendable () -> DiskSpace?
    private let writer: GroupCommit?
    private let uptime: GroupCommit.Uptime
    /// Reads run in it concurrently; a barrier makes a gap between them.
    private let gaps = DispatchQueue(label: "gaps-of-long-reads", attributes: .concurrent)

    /// The longest that a list may take while the log is too long.
    private static let longest = Duration.seconds(30)

    /// `space`: of the disk where sorts have their files. `writer`: whose log it is.
    init(
        path: String, damage: DamageWatch, space: (@Sendable () -> DiskSpace?)? = nil, writer: GroupCommit? = nil,
        uptime: @escaping GroupCommit.Uptime = GroupCommit.uptime()
    ) {
        (self.writer, self.uptime) = (writer, uptime)
        self.space = space ?? { DiskSpace(beside: path) }
        readers = ReaderPool(path: path, damage: damage, count: 2, first: nil, holdsSnapshots: false)
    }

    /// Throws a `CacheError` for every error of SQLite, `.unwritable` when a sort takes what writes need of the disk, and
    /// `CancellationError` soon after the task is cancelled.
    func read<Result: Sendable>(
        for caller: ReadCaller, _ body: @escaping @Sendable (ReadConnection) throws -> Result
    ) async throws -> Result {
        try await lists.result(for: caller) { [self] isCancelled in
            try afterGap { try read(until: isCancelled, body) }
        }
    }

    /// Runs a read that needs none of these connections, one at a time, so that long lists do not keep it waiting. Throws
    /// `CancellationError` if the task is cancelled before the read begins.
    func run<Result: Sendable>(
        for caller: ReadCaller, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await others.result(for: caller) { [self] isCancelled in
            try afterGap {
                guard !isCancelled.isSet else { throw CancellationError() }
                return try body()
            }
        }
    }

    /// Waits for running reads; nothing can be read afterwards.
    func close() { readers.close() }

    private func afterGap<Result>(_ read: () throws -> Result) throws -> Result {
        if let writer, writer.isLogHeld {
            gaps.sync(flags: .barrier) { if writer.isLogHeld { writer.awaitLog() } }
        }
        return try gaps.sync(execute: read)
    }

    private func read<Result: Sendable>(
        until isCancelled: CancellationFlag, _ body: @Sendable (ReadConnection) throws -> Result
    ) throws -> Result {
        // Its caller may have gone while it waited.
        guard !isCancelled.isSet else { throw CancellationError() }
        let room = SortRoom(space)
        let end = uptime() + Self.longest
        let holdsLog = { @Sendable [self] in writer?.isLogHeld == true && uptime() > end }
        do {
            return try readers.read(while: { !isCancelled.isSet && !holdsLog() && room.isLeft() }, body)
        } catch is ReadTakesLong {
            guard !isCancelled.isSet else { throw CancellationError() }
            guard room.isTaken else {
                throw CacheError.unwritable(
                    "this read has taken \(Self.longest.components.seconds) s while much was written, and the log of the database "
                        + "has become long; ask for less, or try again later")
            }
            throw CacheError.unwritable(
                "the disk has too little room for the file of this sort; free some space, ask for fewer records, or sort by a field "
                    + "with an index")
        }
    }
}
