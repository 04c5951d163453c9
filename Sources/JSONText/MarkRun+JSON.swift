/// Runs of combining marks in JSON, escaped ones included. Text that is no JSON may have others.
extension MarkRun {
    /// Whether none is longer than `longest`.
    package static func areShort(inJSON text: ArraySlice<UInt8>, upTo longest: Int = longest) -> Bool {
        offsets(inJSON: text, beyond: longest).isEmpty
    }

    /// Throws when one is longer than `longest`.
    package static func check(inJSON text: ArraySlice<UInt8>, upTo longest: Int) throws(JSONError) {
        guard let offset = offsets(inJSON: text, beyond: longest).first else { return }
        throw JSONError(problem: "more than \(longest) combining marks in a row", offset: offset)
    }

    /// Where each run that is longer than `longest` becomes too long, as offsets in the text, in order.
    package static func offsets(inJSON text: ArraySlice<UInt8>, beyond longest: Int) -> [Int] {
        guard mayBeLong(text, beyond: longest) else { return [] }
        var run = MarkRun(upTo: longest)
        var offsets: [Int] = []
        var rest = text
        while !rest.isEmpty {
            let place = rest.startIndex
            if !run.isShort(with: scalar(&rest)), run.length == longest + 1 { offsets.append(place - text.startIndex) }
        }
        return offsets
    }

    /// The text without the marks by which a run is longer than `longest`.
    package static func shortened(inJSON text: ArraySlice<UInt8>, upTo longest: Int) -> [UInt8] {
        var run = MarkRun(upTo: longest)
        var kept: [UInt8] = []
        var rest = text
        while !rest.isEmpty {
            let place = rest.startIndex
            if run.isShort(with: scalar(&rest)) { kept += text[place..<rest.startIndex] }
        }
        return kept
    }

    /// Looks at few places, so that nearly every text is passed over. Each mark has at least two bytes, so a run that is too
    /// long has one of these places in its first half.
    private static func mayBeLong(_ text: ArraySlice<UInt8>, beyond longest: Int) -> Bool {
        stride(from: text.startIndex, to: text.endIndex, by: longest).contains { place in
            guard let start = beginning(of: place, in: text) else { return false }
            var rest = text[start...]
            var run = MarkRun(upTo: longest / 4)
            // It may begin two characters too early.
            var ahead = 3
            while !rest.isEmpty, ahead > 0 || run.length > 0 {
                if !run.isShort(with: scalar(&rest)) { return true }
                ahead -= 1
            }
            return false
        }
    }

    /// Where the character at this place begins that has more than one byte or is escaped, or the one before; nil for others.
    private static func beginning(of place: Int, in text: ArraySlice<UInt8>) -> Int? {
        if text[place] >= 0x80 {
            return (max(place - 3, text.startIndex)...place).last { text[$0] & 0xC0 != 0x80 } ?? place
        }
        // A pair of surrogates has twelve bytes.
        return (max(place - 11, text.startIndex)...place).first { text[$0] == UInt8(ascii: "\\") }
    }

    /// Takes one character.
    private static func scalar(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar {
        let byte = rest.removeFirst()
        guard byte < 0x80 else { return character(byte, &rest) }
        return byte == UInt8(ascii: "\\") ? escaped(&rest) : Unicode.Scalar(byte)
    }

    /// Takes the rest of one of more than one byte.
    private static func character(_ lead: UInt8, _ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar {
        var value = UInt32(lead & (lead < 0xE0 ? 0x1F : lead < 0xF0 ? 0x0F : 0x07))
        while let next = rest.first, next & 0xC0 == 0x80 {
            value = value << 6 | UInt32(next & 0x3F)
            rest.removeFirst()
        }
        return Unicode.Scalar(value) ?? " "
    }

    /// Takes what follows a backslash.
    private static func escaped(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar {
        guard rest.popFirst() == UInt8(ascii: "u"), let high = digits(&rest) else { return " " }
        guard UTF16.isLeadSurrogate(high), rest.starts(with: "\\u".utf8) else { return Unicode.Scalar(high) ?? " " }
        var after = rest.dropFirst(2)
        guard let low = digits(&after), UTF16.isTrailSurrogate(low) else { return " " }
        rest = after
        return UTF16.decode(UTF16.EncodedScalar([high, low]))
    }

    private static func digits(_ rest: inout ArraySlice<UInt8>) -> UInt16? {
        let text = String(decoding: rest.prefix(4), as: UTF8.self)
        rest = rest.dropFirst(4)
        return UInt16(text, radix: 16)
    }
}
