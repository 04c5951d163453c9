/// The key of a record in an address of it.
extension Entity {
    /// Nil when the address has no segment that could be one. `location` is absolute or relative, as a `Location` header
    /// has it.
    package func key(at location: String) -> String? {
        let address = location.prefix { $0 != "?" && $0 != "#" }
        let path = address.firstRange(of: "://").map { address[$0.upperBound...].drop { $0 != "/" } } ?? address
        let segments = path.split(separator: "/")
        // The template may have a segment after the key, or an ending such as `.json`.
        let pattern = (pull?.single.path).map(Self.segments) ?? []
        let place = pattern.lastIndex { $0.contains { $0 == .placeholder(key) } }
        let after = place.map { pattern.count - 1 - $0 } ?? 0
        guard segments.count > after else { return nil }
        var segment = segments[segments.count - 1 - after]
        if let place, let text = pattern[place].last, case .text(let ending) = text, segment.hasSuffix(ending) {
            segment = segment.dropLast(ending.count)
        }
        let found = Self.percentDecoded(segment)
        return found.isEmpty ? nil : found
    }

    private static func segments(_ template: Template) -> [[Template.Part]] {
        var segments: [[Template.Part]] = []
        var current: [Template.Part] = []
        for part in template.parts {
            guard case .text(let text) = part else {
                current.append(part)
                continue
            }
            let pieces = text.split(separator: "/", omittingEmptySubsequences: false)
            for (index, piece) in pieces.enumerated() {
                if index > 0 {
                    if !current.isEmpty { segments.append(current) }
                    current = []
                }
                if !piece.isEmpty { current.append(.text(String(piece))) }
            }
        }
        return current.isEmpty ? segments : segments + [current]
    }

    /// The text without its `%` escapes; what is no escape stays.
    package static func percentDecoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            let digits = Substring(rest.prefix(2))
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let value = UInt8(digits, radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
