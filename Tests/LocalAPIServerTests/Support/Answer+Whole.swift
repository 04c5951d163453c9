import SocketServer
import Synchronization

extension TestAPI.Answer {
    /// All that a streamed answer writes; `reading` runs after each piece.
    func wholeBytes(_ reading: @escaping @Sendable () async throws -> Void = {}) async throws -> [UInt8] {
        guard case .stream(let produce) = response.body else { return [] }
        let all = Mutex<[UInt8]>([])
        try await produce { piece in
            all.withLock { $0 += piece }
            try await reading()
        }
        return all.withLock(\.self)
    }

    /// The same as text.
    func whole(_ reading: @escaping @Sendable () async throws -> Void = {}) async throws -> String {
        String(decoding: try await wholeBytes(reading), as: UTF8.self)
    }
}
