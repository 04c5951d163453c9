internal import SocketServer

/// The bytes of a content that a request asks for (RFC 9110, 14).
enum ByteRange: Equatable {
    case whole
    case part(Range<Int>)
    /// The range is beyond the end.
    case unsatisfiable

    /// A malformed field, several ranges, and a range of another version all ask for the whole.
    init(_ request: Request, tag: String, size: Int) {
        self = .whole
        guard let field = request.headers[single: "Range"], field.lowercased().hasPrefix("bytes=") else { return }
        let conditions = request.headers[all: "If-Range"]
        guard conditions.allSatisfy({ $0 == tag }) else { return }
        let ends = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { $0 &- 0x30 < 10 } }) else { return }
        switch (Int(ends[0]), Int(ends[1])) {
        case (nil, let count?) where ends[0].isEmpty:
            self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .unsatisfiable
        case (let first?, nil) where ends[1].isEmpty: self = first < size ? .part(first..<size) : .unsatisfiable
        case (let first?, let last?) where first <= last:
            self = first < size ? .part(first..<min(size, last == .max ? last : last + 1)) : .unsatisfiable
        default: return
        }
    }
}
