import EntitySchema
import Glibc
import Synchronization
import Upstream

/// When the last requests to the upstream were over, in a small file, so that a restart does not spend a budget twice.
///
/// It is written without waiting for the disk: that outlives the end of the process, however it ends.
final class RequestJournalFile: RequestJournal {
    private let file: Int32
    /// The number of times that the file holds, one after the other; the oldest is replaced first.
    private let capacity: Int
    private let now: @Sendable () -> Timestamp
    private let next: Mutex<Int>
    /// How long before the start each request of an earlier process was over.
    let ages: [Duration]

    /// Stands for the end of a request under way.
    private static let underWay: Int64 = -1

    /// It remembers the last `limit` requests. Nil if the file cannot be opened; each start then has a whole budget.
    init?(path: String, limit: Int, now: @escaping @Sendable () -> Timestamp) {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return nil }
        self.file = file
        self.now = now
        // A little more, because those under way keep their place.
        capacity = limit + 64
        let times = Self.times(in: file, capacity)
        let start = now()
        // The clock may have been set back, and a request under way at the end may still have arrived: both count as now.
        ages = times.filter { $0 != 0 }.map { time in
            time == Self.underWay ? .zero : max(start.since(Timestamp(milliseconds: time)), .zero)
        }
        // What was under way is over now; new requests go on after the newest.
        for index in times.indices where times[index] == Self.underWay {
            Self.write(start.milliseconds, at: index, to: file)
        }
        next = Mutex(times.indices.max { times[$0] < times[$1] }.map { $0 + 1 } ?? 0)
    }

    deinit { close(file) }

    func sent() -> Int {
        let number = next.withLock { next in
            defer { next = (next + 1) % capacity }
            return next % capacity
        }
        Self.write(Self.underWay, at: number, to: file)
        return number
    }

    func answered(_ number: Int) { Self.write(now().milliseconds, at: number, to: file) }

    private static func write(_ time: Int64, at index: Int, to file: Int32) {
        var bytes = time.littleEndian
        _ = pwrite(file, &bytes, width, off_t(index * width))
    }

    private static func times(in file: Int32, _ capacity: Int) -> [Int64] {
        var times = [Int64](repeating: 0, count: capacity)
        let count = times.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, 0) }
        return times.prefix(max(0, count) / width).map(Int64.init(littleEndian:))
    }

    private static let width = MemoryLayout<Int64>.size
}
