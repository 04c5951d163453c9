/// The beginning of a value from outside, where the number of its parts must be bounded.
extension JSONText {
    /// At most `most` of `members`, from the start. Looks no further than that.
    package func members(atMost most: Int) -> [(key: String, value: JSONText)] {
        guard kind == .object else { return [] }
        var found: [(key: String, value: JSONText)] = []
        bytes.withUnsafeBufferPointer { bytes in
            var scanner = CheckedScanner(bytes, at: 1)
            while found.count < most, let (name, value) = scanner.nextMember() {
                found.append((CheckedJSON.text(bytes, name), part(value)))
            }
        }
        return found
    }

    /// At most `most` of `elements`, from the start. Looks no further than that.
    package func elements(atMost most: Int) -> [JSONText] {
        guard kind == .array else { return [] }
        var found: [JSONText] = []
        bytes.withUnsafeBufferPointer { bytes in
            var scanner = CheckedScanner(bytes, at: 1)
            while found.count < most {
                scanner.skipSpace()
                guard scanner.at < bytes.count, scanner.current != UInt8(ascii: "]") else { return }
                let start = scanner.at
                scanner.skipValue()
                found.append(part(start..<scanner.at))
                scanner.skipSpace()
                if scanner.current == UInt8(ascii: ",") { scanner.at += 1 }
            }
        }
        return found
    }
}
