/// The bytes of an answer, read when they are asked for: a large one is never in memory as a whole. Read it once.
public struct ResponseBody: AsyncSequence, Sendable {
    /// A piece of the body; never empty.
    public typealias Element = [UInt8]
    /// `.interrupted` if the rest did not come.
    public typealias Failure = ClientError
    /// Returns the next piece, or nil at the end.
    public typealias Source = @Sendable () async throws(ClientError) -> [UInt8]?

    private let source: Source

    /// A body that `source` gives piece by piece.
    public init(_ source: @escaping Source) { self.source = source }

    /// A body that is there already.
    public init(_ bytes: [UInt8]) {
        let pieces = Pieces([bytes])
        source = { () async throws(ClientError) in await pieces.next() }
    }

    /// All of it; throws `.unexpected` if that is more than `limit`.
    public func collect(limit: Int = 1 << 30) async throws(ClientError) -> [UInt8] {
        var bytes: [UInt8] = []
        while let piece = try await source() {
            bytes += piece
            guard bytes.count <= limit else { throw .unexpected("the answer has more than \(limit) bytes") }
        }
        return bytes
    }

    /// Reads piece by piece.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

    /// Reads piece by piece.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        let source: Source

        /// The next piece; nil at the end.
        public mutating func next(isolation: isolated (any Actor)?) async throws(ClientError) -> [UInt8]? {
            try await source()
        }
    }
}

/// Pieces of a body that are there already, each given once.
private actor Pieces {
    private var rest: [[UInt8]]

    init(_ pieces: [[UInt8]]) { rest = pieces.filter { !$0.isEmpty }.reversed() }

    func next() -> [UInt8]? { rest.popLast() }
}
