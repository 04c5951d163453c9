import Glibc

/// Bytes that have arrived, and how far they are consumed.
struct InputBuffer {
    private var bytes: [UInt8] = []
    /// All bytes before this position are consumed.
    private var position = 0
    /// There is no line feed between `position` and here.
    private var searched = 0
    /// A buffer that has grown beyond twice this size frees its memory once it is consumed.
    let usualCapacity: Int

    init(usualCapacity: Int) { self.usualCapacity = usualCapacity }

    /// How many bytes are not consumed.
    var count: Int { bytes.count - position }
    var isEmpty: Bool { position == bytes.count }
    /// Counts consumed bytes too while they take memory.
    var heldBytes: Int { bytes.count }

    /// The byte `offset` places after the next one; it must have arrived.
    subscript(offset: Int) -> UInt8 { bytes[position + offset] }

    /// The part of a line that has arrived, after `line` has returned nil or thrown.
    var partOfLine: ArraySlice<UInt8> { bytes[position..<searched] }

    mutating func append(_ new: UnsafeRawBufferPointer) {
        if isEmpty {
            discard()
        } else if position > usualCapacity {
            bytes.removeFirst(position)
            searched -= position
            position = 0
        }
        bytes.append(contentsOf: new)
    }

    /// Consumes up to `wanted` bytes.
    mutating func take(_ wanted: Int) -> ArraySlice<UInt8> {
        let start = position
        position += min(wanted, count)
        searched = position
        return bytes[start..<position]
    }

    /// Consumes the next line and returns it without its CRLF; nil when its end has not arrived. A bare line feed is an
    /// error (RFC 9112, 2.2).
    mutating func line(limit: Int, over refusal: Refusal) throws(Refusal) -> ArraySlice<UInt8>? {
        let end = min(bytes.count, position + limit + 2)
        searched = lineFeed(in: searched..<max(searched, end))
        guard searched - position <= limit + 1 else { throw refusal }
        guard searched < bytes.count else { return nil }
        guard searched > position, bytes[searched - 1] == Grammar.carriageReturn else {
            throw .badRequest("A line ends in a line feed without a carriage return.")
        }
        let line = bytes[position..<(searched - 1)]
        position = searched + 1
        searched = position
        return line
    }

    /// The position of the first such byte in a range, or the range's end.
    private func lineFeed(in range: Range<Int>) -> Int {
        bytes.withUnsafeBytes { bytes in
            let part = UnsafeRawBufferPointer(rebasing: bytes[range])
            guard let start = part.baseAddress, let found = memchr(start, Int32(Grammar.lineFeed), part.count) else {
                return range.upperBound
            }
            return range.lowerBound + (UnsafeRawPointer(found) - start)
        }
    }

    /// Discards consumed input, and frees the memory if a large request made it grow.
    mutating func discardConsumed() { if isEmpty { discard() } }

    private mutating func discard() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= 2 * usualCapacity)
        position = 0
        searched = 0
    }
}
