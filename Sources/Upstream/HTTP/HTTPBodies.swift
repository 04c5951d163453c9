/// Where a body comes from that is too large to be held: read piece by piece, from the start again when it is repeated.
package final class BodySource: Sendable, Equatable {
    package let size: Int
    /// Nil where it can no longer be read; else as many bytes as are left, `count` at most.
    package let read: @Sendable (_ offset: Int, _ count: Int) -> [UInt8]?

    package init(size: Int, read: @escaping @Sendable (_ offset: Int, _ count: Int) -> [UInt8]?) {
        self.size = size
        self.read = read
    }

    package static func == (one: BodySource, other: BodySource) -> Bool { one === other }
}

/// Where the body of a good answer goes that is too large to be held.
package final class BodySink: Sendable, Equatable {
    /// False refuses the rest of the answer.
    package let take: @Sendable (UnsafeRawBufferPointer) -> Bool

    package init(take: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool) {
        self.take = take
    }

    package static func == (one: BodySink, other: BodySink) -> Bool { one === other }
}
