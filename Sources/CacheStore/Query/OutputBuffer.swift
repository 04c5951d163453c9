internal import Glibc

/// The bytes of an answer while it is built, in the memory of the array that they become.
///
/// An array would look at each append whether another variable holds it too, which takes longer than to copy a short part.
final class OutputBuffer {
    private var memory: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0
    /// Whether it has outgrown the array.
    private var hasMoved = false

    private init(_ memory: UnsafeMutableBufferPointer<UInt8>) { self.memory = memory }

    deinit { if hasMoved { memory.deallocate() } }

    /// What `fill` appends; it is copied once more if it is longer than `capacity`.
    static func bytes(capacity: Int, _ fill: (OutputBuffer) throws -> Void) rethrows -> [UInt8] {
        var moved: OutputBuffer?
        let bytes = try [UInt8](unsafeUninitializedCapacity: capacity) { memory, count in
            let output = OutputBuffer(memory)
            try fill(output)
            if output.hasMoved { moved = output } else { count = output.count }
        }
        return moved?.bytes() ?? bytes
    }

    func append(_ byte: UInt8) {
        makeRoom(for: 1)
        memory[count] = byte
        count += 1
    }

    func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// `part` is not in this buffer, which may move.
    func append(_ part: UnsafeBufferPointer<UInt8>) {
        makeRoom(for: part.count)
        guard let start = memory.baseAddress, let source = part.baseAddress else { return }
        memcpy(start + count, source, part.count)
        count += part.count
    }

    func append(_ bytes: some Collection<UInt8>) {
        if bytes.withContiguousStorageIfAvailable({ append($0) }) == nil { append(Array(bytes)) }
    }

    /// Appends once more what is at these places.
    func append(copyOf places: Range<Int>) {
        precondition(places.upperBound <= count)
        makeRoom(for: places.count)
        guard let start = memory.baseAddress else { return }
        memcpy(start + count, start + places.lowerBound, places.count)
        count += places.count
    }

    func removeAll(from place: Int) {
        precondition(place <= count)
        count = place
    }

    func bytes(from place: Int = 0) -> [UInt8] { Array(memory[place..<count]) }

    @inline(__always)
    private func makeRoom(for more: Int) { if more > memory.count - count { grow(by: more) } }

    private func grow(by more: Int) {
        let larger = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(2 * memory.count, count + more))
        if let start = memory.baseAddress, let target = larger.baseAddress { memcpy(target, start, count) }
        if hasMoved { memory.deallocate() }
        memory = larger
        hasMoved = true
    }
}
