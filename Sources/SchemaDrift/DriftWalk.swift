internal import EntitySchema
package import JSONText

/// Walks over records in memory and notes where each disagrees with the rules; allocates nothing while they agree.
///
/// The text must be JSON that was validated before. Invalid text gives no notes or odd ones, but is never read beyond
/// its end.
package struct DriftWalk {
    /// One disagreement of the current record, by its position in the text.
    package struct Note {
        /// The same for the same disagreement in another record.
        var hash: UInt64
        var kind: DriftKind
        var field: Int32
        var name: Range<Int>
        var value: Range<Int>
        var found: Found
    }

    package enum Found: UInt8 { case nothing, null, boolean, integer, number, string, array, object }

    // Of the rules only what each member needs: with the whole of them, each look-up would copy the entity.
    private let members: [DriftRules.Member]
    private let fieldsInside: [[Int32]]
    private let names: NameTable
    private let required: [Int]
    package let bytes: UnsafeBufferPointer<UInt8>
    private var at = 0
    /// Whether the walk is inside the outermost array.
    private var isOpen = false
    private var record: Int32 = 0
    /// For each field, the last record that had the member, and the last with a value other than null.
    private var seen: [Int32]
    private var filled: [Int32]
    package private(set) var notes: [Note] = []
    /// The position of the current record's key.
    package private(set) var key = 0..<0

    package init(_ rules: DriftRules, _ bytes: UnsafeBufferPointer<UInt8>) {
        members = rules.members
        fieldsInside = rules.fieldsInside
        names = rules.names
        required = rules.required
        self.bytes = bytes
        filled = Array(repeating: 0, count: rules.entity.fields.count)
        seen = filled
    }

    /// Whether any record so far had the field's member, even as null, or null in place of what holds it.
    package func hasSeen(_ field: Int) -> Bool { seen[field] > 0 }

    /// Moves past the next object at the top of the text or of its array, and sets `notes` and `key` for it; returns
    /// false at the end.
    package mutating func next() -> Bool {
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "{"):
                record += 1
                notes.removeAll(keepingCapacity: true)
                key = 0..<0
                object(scope: 0)
                noteMissing()
                return true
            case UInt8(ascii: "\""): skipString()
            case UInt8(ascii: "["):
                // Only the outermost array holds records; an array inside it is one of its elements.
                if isOpen { skipNested() } else { (isOpen, at) = (true, at + 1) }
            default: at += 1
            }
        }
        return false
    }

    // MARK: One object

    private mutating func object(scope: Int32) {
        at += 1
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""): member(scope)
            case UInt8(ascii: "}"):
                at += 1
                return
            default: at += 1
            }
        }
    }

    private mutating func member(_ scope: Int32) {
        let start = at
        skipString()
        let name = start..<at
        let (index, hash) = lookUp(name, scope)
        while at < bytes.count, bytes[at] <= 0x20 || bytes[at] == UInt8(ascii: ":") { at += 1 }
        guard index != NameTable.noName else {
            let (found, value) = skipValue()
            if scope == 0 { note(.unknown, DriftRules.noField, name: name, hash, value, found) }
            return
        }
        let member = members[Int(index)]
        if member.inside != 0, at < bytes.count, bytes[at] == UInt8(ascii: "{") {
            // The object may be a field itself.
            if member.field != DriftRules.noField {
                seen[Int(member.field)] = record
                filled[Int(member.field)] = record
            }
            return object(scope: member.inside)
        }
        let (found, value) = skipValue()
        if member.isKey, key.isEmpty { key = value }
        // What would be inside is null too.
        if found == .null { for field in fieldsInside[Int(index)] { seen[Int(field)] = record } }
        guard member.field != DriftRules.noField else { return }
        seen[Int(member.field)] = record
        guard found != .null else { return }
        filled[Int(member.field)] = record
        check(member, name, hash, value, found)
    }

    private mutating func check(
        _ member: DriftRules.Member, _ name: Range<Int>, _ hash: UInt64, _ value: Range<Int>, _ found: Found
    ) {
        let fits: Bool
        switch member.expected {
        case .anything: return
        case .string: fits = found == .string
        case .integer: fits = found == .integer
        case .number: fits = found == .integer || found == .number
        case .quotedNumber: fits = found == .string && isNumber(value.dropFirst().dropLast())
        case .boolean: fits = found == .boolean
        case .time: fits = found == .string && TimeText.isTime(bytes, value.dropFirst().dropLast())
        case .day: fits = found == .string && TimeText.isDay(bytes, value.dropFirst().dropLast())
        case .key: fits = found == .string || found == .integer
        case .object: fits = found == .object
        case .list: fits = found == .array
        case .oneOf:
            guard found == .string else { return note(.type, member.field, name: name, hash, value, found) }
            let (known, valueHash) = lookUp(value, DriftRules.enumScope(of: member.field))
            return known == NameTable.noName
                ? note(.value, member.field, name: name, valueHash, value, found) : ()
        }
        if !fits { note(.type, member.field, name: name, hash, value, found) }
    }

    /// Roughly: whether all characters are those of numbers.
    private func isNumber(_ range: Range<Int>) -> Bool {
        !range.isEmpty && range.allSatisfy { bytes[$0] &- 0x30 < 10 || "+-.eE".utf8.contains(bytes[$0]) }
    }

    /// Looks up the string at `range`, quotes included.
    private func lookUp(_ range: Range<Int>, _ scope: Int32) -> (index: Int32, hash: UInt64) {
        let inner = range.dropFirst().dropLast()
        let (hash, hasEscape) = NameTable.hash(scope, bytes, inner)
        if hasEscape { return lookUpEscaped(range, scope) }
        return (names.value(scope, hash, bytes, inner), hash)
    }

    private func lookUpEscaped(_ range: Range<Int>, _ scope: Int32) -> (index: Int32, hash: UInt64) {
        let decoded = Array((text(range)?.string ?? "").utf8)
        return decoded.withUnsafeBufferPointer { decoded in
            let hash = NameTable.hash(scope, decoded, 0..<decoded.count).hash
            return (names.value(scope, hash, decoded, 0..<decoded.count), hash)
        }
    }

    /// The JSON at `range`.
    package func text(_ range: Range<Int>) -> JSONText? { try? JSONText(Array(bytes[range])) }

    private mutating func noteMissing() {
        for field in required where filled[field] != record {
            note(.missing, Int32(field), name: 0..<0, UInt64(field), 0..<0, seen[field] == record ? .null : .nothing)
        }
    }

    private mutating func note(
        _ kind: DriftKind, _ field: Int32, name: Range<Int>, _ hash: UInt64, _ value: Range<Int>, _ found: Found
    ) {
        let mixed = NameTable.mix(NameTable.mix(hash, kind.number), found.rawValue)
        notes.append(Note(hash: mixed, kind: kind, field: field, name: name, value: value, found: found))
    }

    // MARK: Values

    private mutating func skipValue() -> (Found, Range<Int>) {
        let start = at
        guard at < bytes.count else { return (.nothing, start..<start) }
        let found: Found
        switch bytes[at] {
        case UInt8(ascii: "\""):
            skipString()
            found = .string
        case UInt8(ascii: "{"):
            skipNested()
            found = .object
        case UInt8(ascii: "["):
            skipNested()
            found = .array
        case UInt8(ascii: "t"), UInt8(ascii: "f"):
            skipWord()
            found = .boolean
        case UInt8(ascii: "n"):
            skipWord()
            found = .null
        default: found = skipWord() ? .integer : .number
        }
        return (found, start..<max(start, min(at, bytes.count)))
    }

    /// Starts at the opening quote; ends after the closing one.
    private mutating func skipString() { at = CheckedJSON.endOfString(bytes, from: at) }

    private mutating func skipNested() {
        var depth = 0
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""):
                skipString()
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
            at += 1
            if depth == 0 { return }
        }
    }

    /// Skips a number or a literal; returns true if it has neither point nor exponent.
    @discardableResult
    private mutating func skipWord() -> Bool {
        var isWhole = true
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), 0...0x20: return isWhole
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): isWhole = false
            default: break
            }
            at += 1
        }
        return isWhole
    }
}
