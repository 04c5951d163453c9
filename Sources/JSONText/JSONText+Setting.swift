internal import Glibc

/// Setting several members of an object at once.
extension JSONText {
    /// This object with every member of `changes` set in turn. A null sets null; it removes nothing.
    package func setting(_ changes: JSONText) -> JSONText { laying(changes).result }

    /// An object with other members set, and what the walk over it has shown.
    package struct Laid {
        package var result: JSONText
        /// The changes as a merge patch (RFC 7396) set no more and no less: none of the values is null or an object, and
        /// the object has none of the members twice, or by a name with an escape, which SQLite takes for another name.
        package var isMergePatch: Bool
        /// Neither the object nor the changes have space between their parts; false if that is not known.
        package var isCompact: Bool
    }

    /// As `setting(_:)`.
    package func laying(_ changes: JSONText) -> Laid {
        if kind == .object, let changes = MemberChanges(changes) { return changes.laid(over: self) }
        let members = changes.members
        // Many, or with escapes: which names are written with one is not looked up.
        let mayHaveEscapes = [self, changes].contains { $0.bytes.contains(UInt8(ascii: "\\")) }
        let isMany = members.count > MemberChanges.most && kind == .object
        let isMergePatch =
            !mayHaveEscapes && members.allSatisfy { $0.value.kind != .null && $0.value.kind != .object }
            && (isMany ? !hasTwice(members) : members.allSatisfy { count(of: $0.key) <= 1 })
        let result = isMany ? settingAtOnce(members) : members.reduce(self) { $0.setting($1.key, to: $1.value) }
        return Laid(result: result, isMergePatch: isMergePatch, isCompact: false)
    }

    /// Whether this object has one of the members twice. One walk, however many there are.
    private func hasTwice(_ changes: [(key: String, value: JSONText)]) -> Bool {
        let names = Set(changes.map { Array($0.key.utf8) })
        var seen: Set<[UInt8]> = []
        return members.contains { key, _ in
            let name = Array(key.utf8)
            return names.contains(name) && !seen.insert(name).inserted
        }
    }

    /// As if the members were set one after the other, without a copy of the text for each.
    private func settingAtOnce(_ changes: [(key: String, value: JSONText)]) -> JSONText {
        // By their bytes: two names that a person reads as the same are two.
        let values = Dictionary(changes.map { (Array($0.key.utf8), $0.value) }) { $1 }
        var places: [[UInt8]: Range<Int>] = [:]
        for (key, value) in members {
            let name = Array(key.utf8)
            if values.keys.contains(name) { places[name] = value.bytes.startIndex..<value.bytes.endIndex }
        }
        var result: [UInt8] = []
        var end = bytes.startIndex
        for (name, place) in places.sorted(by: { $0.value.lowerBound < $1.value.lowerBound }) {
            result += bytes[end..<place.lowerBound]
            if let value = values[name] { result += value.bytes }
            end = place.upperBound
        }
        result += bytes[end...]
        Self.open(&result)
        var seen = Set(places.keys)
        for (key, _) in changes {
            let name = Array(key.utf8)
            if seen.insert(name).inserted, let value = values[name] { Self.append(key, value, to: &result) }
        }
        result.append(UInt8(ascii: "}"))
        return JSONText(trusted: result[...])
    }
}

/// The members of one object that are to be set in another, as in most edits: few, and their names without escapes. They
/// are compared as they are written, in one walk over the other object.
private struct MemberChanges {
    /// With more, a dictionary is faster.
    static let most = 63

    private let bytes: ArraySlice<UInt8>
    /// Where each name, without its quotes, and its value are from the start of `bytes`.
    private var members: [(name: Range<Int>, value: Range<Int>)] = []
    private var hasOnlyPlainValues = true
    private var hasSpace = false
    private var hasRepeats = false

    /// Nil for changes that are not like this.
    init?(_ changes: JSONText) {
        bytes = changes.bytes
        guard changes.kind == .object, read() else { return nil }
    }

    private mutating func read() -> Bool {
        bytes.withUnsafeBufferPointer { text in
            var scanner = CheckedScanner(text, at: 1)
            while let (name, value) = scanner.nextMember() {
                guard members.count < Self.most, !Self.hasEscape(name, text) else { return false }
                let first = text[value.lowerBound]
                if first == UInt8(ascii: "n") || first == UInt8(ascii: "{") { hasOnlyPlainValues = false }
                if let earlier = index(of: name, in: text, text) {
                    hasRepeats = true
                    members[earlier].value = value
                } else {
                    members.append((name, value))
                }
            }
            hasSpace = scanner.hasSkippedSpace
            return true
        }
    }

    func laid(over object: JSONText) -> JSONText.Laid {
        // Over an empty object they are the result as they are.
        if object.bytes.count == 2, !hasRepeats, !hasSpace {
            return JSONText.Laid(result: JSONText(trusted: bytes), isMergePatch: hasOnlyPlainValues, isCompact: true)
        }
        var places = [Range<Int>?](repeating: nil, count: members.count)
        // The changes that the object has a member for, in the order of these.
        var order: [Int] = []
        // By two members of the object, or by one whose name has an escape.
        var isNamedOtherwise = false
        var hasSpace = hasSpace
        object.bytes.withUnsafeBufferPointer { text in
            bytes.withUnsafeBufferPointer { changes in
                var scanner = CheckedScanner(text, at: 1)
                while let (name, value) = scanner.nextMember() {
                    guard let change = index(of: name, in: text, changes) else { continue }
                    if Self.hasEscape(name, text) { isNamedOtherwise = true }
                    if places[change] != nil {
                        isNamedOtherwise = true
                        order.removeAll { $0 == change }
                    }
                    places[change] = value
                    order.append(change)
                }
                if scanner.hasSkippedSpace { hasSpace = true }
            }
        }
        return JSONText.Laid(
            result: text(of: object.bytes, places, order), isMergePatch: hasOnlyPlainValues && !isNamedOtherwise,
            isCompact: !hasSpace)
    }

    private func text(of object: ArraySlice<UInt8>, _ places: [Range<Int>?], _ order: [Int]) -> JSONText {
        var result: [UInt8] = []
        result.reserveCapacity(object.count + bytes.count)
        var end = object.startIndex
        for change in order {
            guard let place = places[change] else { continue }
            result += object[end..<(object.startIndex + place.lowerBound)]
            result += part(members[change].value)
            end = object.startIndex + place.upperBound
        }
        result += object[end...]
        guard order.count < members.count else { return JSONText(trusted: result[...]) }
        JSONText.open(&result)
        for change in members.indices where places[change] == nil {
            if result.last != UInt8(ascii: "{") { result.append(UInt8(ascii: ",")) }
            let (name, value) = members[change]
            result += part(name.lowerBound - 1..<name.upperBound + 1)
            result.append(UInt8(ascii: ":"))
            result += part(value)
        }
        result.append(UInt8(ascii: "}"))
        return JSONText(trusted: result[...])
    }

    private func part(_ range: Range<Int>) -> ArraySlice<UInt8> {
        bytes[(bytes.startIndex + range.lowerBound)..<(bytes.startIndex + range.upperBound)]
    }

    /// The change of the member whose name is there in `text`; `changes` are the own bytes.
    private func index(
        of name: Range<Int>, in text: UnsafeBufferPointer<UInt8>, _ changes: UnsafeBufferPointer<UInt8>
    ) -> Int? {
        if Self.hasEscape(name, text) {
            let spelled = JSONEscapes.decode(Array(text[name])[...])
            return members.firstIndex { changes[$0.name].elementsEqual(spelled.utf8) }
        }
        guard let text = text.baseAddress, let changes = changes.baseAddress else { return nil }
        return members.firstIndex { member in
            member.name.count == name.count
                && memcmp(changes + member.name.lowerBound, text + name.lowerBound, name.count) == 0
        }
    }

    private static func hasEscape(_ name: Range<Int>, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.baseAddress.map { memchr($0 + name.lowerBound, 0x5C, name.count) != nil } ?? false
    }
}
