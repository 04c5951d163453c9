internal import SocketServer
internal import Synchronization

/// The last pages of lists as they were answered, until the database changes: most programs ask for the same page again and
/// again, and between two syncs it is the same.
///
/// Every caller who may read is answered the same, so that one's answer serves all.
final class AnsweredLists: Sendable {
    private struct Kept {
        var moment: UInt64 = 0
        /// By the path and the query of their requests.
        var answers: [String: Response] = [:]
    }

    /// All are forgotten when there would be more.
    private static let most = 32
    /// In bytes; with `most`, 2 MiB.
    private static let longest = 64 << 10

    private let kept = Mutex(Kept())

    /// The answer to the same request at this moment of the database (`CacheStore.moment`).
    func answer(to request: Request, at moment: UInt64) -> Response? {
        let address = Self.address(of: request)
        return kept.withLock { $0.moment == moment ? $0.answers[address] : nil }
    }

    /// `moment`: one before the list was read.
    func keep(_ answer: Response, to request: Request, at moment: UInt64) {
        guard case .bytes(let bytes) = answer.body, bytes.count <= Self.longest else { return }
        var answer = answer
        // The array of a short page may have room for a long one.
        if bytes.capacity > Self.longest { answer.body = .bytes(bytes.withUnsafeBytes { Array($0) }) }
        let address = Self.address(of: request)
        kept.withLock { kept in
            guard moment >= kept.moment else { return }
            if moment > kept.moment || kept.answers.count >= Self.most {
                kept.answers.removeAll(keepingCapacity: true)
                kept.moment = moment
            }
            kept.answers[address] = answer
        }
    }

    private static func address(of request: Request) -> String { "\(request.path)?\(request.query ?? "")" }
}
