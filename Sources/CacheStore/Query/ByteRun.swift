internal import Glibc

/// Room at the end of an array, filled part by part: that takes a fraction of appending each part.
struct ByteRun {
    fileprivate let room: UnsafeMutableBufferPointer<UInt8>
    fileprivate var count = 0

    mutating func add(_ part: UnsafeBufferPointer<UInt8>) {
        precondition(part.count <= room.count - count)
        guard let end = room.baseAddress, let start = part.baseAddress else { return }
        memcpy(end + count, start, part.count)
        count += part.count
    }

    mutating func add(_ text: StaticString) {
        add(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}

extension [UInt8] {
    /// Appends what `fill` adds: so many bytes at most.
    mutating func append(atMost count: Int, _ fill: (inout ByteRun) -> Void) {
        append(addingCapacity: count) { span in
            span.withUnsafeMutableBufferPointer { room, count in
                var run = ByteRun(room: room)
                fill(&run)
                count = run.count
            }
        }
    }
}
