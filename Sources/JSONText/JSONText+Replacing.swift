extension JSONText {
    /// A copy with replaced values in some places; `replacement` returns nil to remove a member. All else stays byte
    /// for byte.
    ///
    /// Afterwards every reader finds the same value there. If a name on the path to a place occurs twice in one object,
    /// only its first member stays. A name written with escapes is rewritten without them.
    package func replacing<Failure: Error>(
        _ places: JSONPlaces, by replacement: (_ place: Int, _ value: JSONText) throws(Failure) -> JSONText?
    ) throws(Failure) -> JSONText {
        var failure: Failure?
        var editor = JSONEditor(places: places, source: bytes)
        // The text was validated when this value was made, so the scan cannot fail.
        _ = try? Self.scan(bytes, isChecked: true) { (scanner) throws(JSONError) in
            try editor.walk(&scanner, 0) { place, value in
                guard failure == nil else { return value }
                do throws(Failure) {
                    return try replacement(place, value)
                } catch {
                    failure = error
                    return value
                }
            }
        }
        if let failure { throw failure }
        return editor.result
    }
}

/// Copies a JSON text during a walk, with other text in some places.
private struct JSONEditor {
    typealias Replacement = (Int, JSONText) -> JSONText?

    let places: JSONPlaces
    let source: ArraySlice<UInt8>
    private var output: [UInt8] = []
    /// Up to here the source is in the output, or removed from it.
    private var copied = 0

    init(places: JSONPlaces, source: ArraySlice<UInt8>) {
        self.places = places
        self.source = source
    }

    var result: JSONText {
        guard copied > 0 else { return JSONText(trusted: source) }
        return JSONText(trusted: (output + slice(copied..<source.count))[...])
    }

    /// Moves past one value. False for one to remove.
    @discardableResult
    mutating func walk(
        _ scanner: inout JSONScanner, _ node: Int, _ replacement: Replacement
    ) throws(JSONError) -> Bool {
        let start = scanner.at
        if let place = places.nodes[node].place {
            try scanner.skipValue()
            let value = JSONText(trusted: slice(start..<scanner.at))
            guard let new = replacement(place, value) else { return false }
            if new != value { replace(start..<scanner.at, by: new.bytes) }
        } else if scanner.current == UInt8(ascii: "{"), !places.nodes[node].members.isEmpty {
            try object(&scanner, node, replacement)
        } else if scanner.current == UInt8(ascii: "{"), let element = places.nodes[node].elements {
            return try walk(&scanner, element, replacement)
        } else if scanner.current == UInt8(ascii: "["), let element = places.elements(of: node) {
            try scanner.forEachElement { (scanner) throws(JSONError) in
                let start = scanner.at
                // An element is never removed: null replaces it.
                if try !walk(&scanner, element, replacement) { replace(start..<scanner.at, by: JSONText.null.bytes) }
            }
        } else {
            try scanner.skipValue()
        }
        return true
    }

    private mutating func object(
        _ scanner: inout JSONScanner, _ node: Int, _ replacement: Replacement
    ) throws(JSONError) {
        var seen: [Int] = []
        // The end of the last member that stays, and whether all before the next one were removed.
        var end: Int?
        var isCut = false
        try scanner.forEachMember { (scanner, name) throws(JSONError) in
            if isCut { copied = name.lowerBound }
            let inner = scanner.bytes[name].dropFirst().dropLast()
            guard let child = places.member(of: node, inner) else {
                try scanner.skipValue()
                (end, isCut) = (scanner.at, false)
                return
            }
            let before = (output: output.count, copied: copied)
            if inner.contains(UInt8(ascii: "\\")) {
                replace(name, by: JSONText.string(JSONEscapes.decode(Array(inner)[...])).bytes)
            }
            let isRepeated = seen.contains(child)
            seen.append(child)
            var stays = false
            if isRepeated { try scanner.skipValue() } else { stays = try walk(&scanner, child, replacement) }
            if stays {
                (end, isCut) = (scanner.at, false)
            } else {
                output.removeSubrange(before.output...)
                copied = before.copied
                cut(from: end ?? name.lowerBound, to: scanner.at)
                isCut = end == nil
            }
        }
    }

    private mutating func replace(_ range: Range<Int>, by bytes: some Sequence<UInt8>) {
        cut(from: range.lowerBound, to: range.upperBound)
        output += bytes
    }

    private mutating func cut(from start: Int, to end: Int) {
        if start > copied { output += slice(copied..<start) }
        copied = end
    }

    private func slice(_ range: Range<Int>) -> ArraySlice<UInt8> {
        source[(source.startIndex + range.lowerBound)..<(source.startIndex + range.upperBound)]
    }
}
