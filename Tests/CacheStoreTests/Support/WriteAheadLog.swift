import Foundation
import TestSupport

/// The write-ahead log of a database in use.
struct WriteAheadLog {
    let bytes: Data
    /// The length of the log after each transaction.
    let commits: [Int]

    init(of path: String) throws {
        let log = try Data(contentsOf: URL(filePath: path + "-wal"))
        bytes = log
        guard log.count > 32 else {
            commits = []
            return
        }
        // A header precedes each page; that of a transaction's last page has the size of the file.
        let frame = 24 + Self.number(log, at: 8)
        commits = stride(from: 32, through: log.count - frame, by: frame)
            .filter { Self.number(log, at: $0 + 4) != 0 }
            .map { $0 + frame }
    }

    /// A kill while a transaction is written.
    struct Kill: CustomStringConvertible {
        /// How long the log is then, in bytes.
        var length: Int
        /// How long it was after the last whole transaction.
        var reached: Int

        var description: String { "killed after byte \(length) of the log, \(length - reached) after a transaction" }
    }

    /// A kill in one of the transactions after `reached`, each as likely as the others; nil if there is none.
    func kill(after reached: Int, _ random: inout SeededRandom) -> Kill? {
        guard let end = random.pick(commits.filter { $0 > reached }) else { return nil }
        let start = commits.last { $0 < end } ?? 0
        let length = start + 1 + random.below(end - start)
        return Kill(length: length, reached: length == end ? end : start)
    }

    private static func number(_ bytes: Data, at offset: Int) -> Int {
        bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
