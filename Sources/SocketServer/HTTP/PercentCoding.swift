internal import JSONText

/// Strict percent-decoding (RFC 3986, 2.1).
package enum PercentCoding {
    /// Nil when an escape is malformed, the bytes are not UTF-8, or there are too many combining marks in a row.
    package static func decode(_ text: Substring, plusIsSpace: Bool = false) -> String? {
        var text = text
        return text.withUTF8 { decode($0[...], plusIsSpace: plusIsSpace) }
    }

    /// The segments of a path, without the empty one before its first slash; nil when one of them cannot be decoded.
    package static func segments(_ path: String) -> [String]? {
        var path = path
        // The bytes themselves: a walk through a `String` takes several times as long.
        return path.withUTF8 { path in
            var segments: [String] = []
            segments.reserveCapacity(4)
            var start = min(1, path.count)
            while true {
                let end = path[start...].firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
                guard let segment = decode(path[start..<end], plusIsSpace: false) else { return nil }
                segments.append(segment)
                guard end < path.endIndex else { return segments }
                start = end + 1
            }
        }
    }

    private static func decode(_ text: Slice<UnsafeBufferPointer<UInt8>>, plusIsSpace: Bool) -> String? {
        let isPlain = !text.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }
        if isPlain { return String(decoding: UnsafeBufferPointer(rebasing: text), as: UTF8.self) }
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, let high = digits.first.flatMap(Grammar.hexDigit),
                    let low = digits.last.flatMap(Grammar.hexDigit)
                else { return nil }
                bytes.append(UInt8(high << 4 | low))
                rest = rest.dropFirst(2)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self).flatMap { MarkRun.areShort(in: $0) ? $0 : nil }
    }

    /// The parameters of a query such as `a=1&b=2`, in order; nil when one of them cannot be decoded.
    package static func parameters(_ query: String?) -> [(name: String, value: String)]? {
        var query = query ?? ""
        return query.withUTF8 { query in
            var parameters: [(name: String, value: String)] = []
            parameters.reserveCapacity(4)
            for part in query.split(separator: UInt8(ascii: "&")) {
                let name = part.prefix { $0 != UInt8(ascii: "=") }
                guard let value = decode(part.dropFirst(name.count + 1), plusIsSpace: true),
                    let name = decode(name, plusIsSpace: true)
                else { return nil }
                parameters.append((name, value))
            }
            return parameters
        }
    }
}
