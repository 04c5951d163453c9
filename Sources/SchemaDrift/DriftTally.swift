internal import EntitySchema
package import JSONText

/// Counts how records disagree with the rules: one entry for each disagreement, however many records share it.
package struct DriftTally {
    package struct Disagreement: Hashable {
        package var field: String
        package var kind: DriftKind
        package var found: String

        package init(field: String, kind: DriftKind, found: String) {
            self.field = field
            self.kind = kind
            self.found = found
        }
    }

    package struct Entry {
        package var disagreement: Disagreement
        package var count: Int
        package var example: String
    }

    package let rules: DriftRules
    package private(set) var entries: [Entry] = []
    /// The number of records checked, and the key of the last one.
    package private(set) var records = 0
    package private(set) var lastKey = ""
    /// For each field, whether any record had the member. Those that are not compared count as present.
    package private(set) var present: [Bool]
    private var places: [UInt64: Int] = [:]
    /// Those beyond `mostEntries`.
    private var otherPlaces: [Disagreement: Int] = [:]

    /// Longer names and values are cut. In Unicode scalars.
    private static let longestText = 100
    /// Further names and values are counted together, as `Drift.others`.
    private static let mostEntries = 1000

    package init(_ rules: DriftRules) {
        self.rules = rules
        present = rules.isCompared.map { !$0 }
    }

    /// Counts the records of `page`, a JSON array, whose keys are in `written`; `written` is in the page's order.
    package mutating func count(_ page: JSONText, written: [String]) {
        page.bytes.withUnsafeBufferPointer { bytes in
            var walk = DriftWalk(rules, bytes)
            var rest = written[...]
            while let key = rest.first, walk.next() {
                guard walk.keyIs(key) else { continue }
                rest.removeFirst()
                add(walk, key)
            }
            notePresence(walk)
        }
    }

    /// Counts one record. Of one that is not `isWhole`, such as the answer to a change, what it lacks says nothing.
    package mutating func count(_ record: String, key: String, isWhole: Bool = true) {
        var record = record
        record.withUTF8 { bytes in
            var walk = DriftWalk(rules, bytes)
            guard walk.next() else { return }
            add(walk, key, isWhole: isWhole)
            notePresence(walk)
        }
    }

    private mutating func add(_ walk: borrowing DriftWalk, _ key: String, isWhole: Bool = true) {
        records += 1
        lastKey = key
        for note in walk.notes where isWhole || note.kind != .missing || note.found == .null {
            if let place = places[note.hash] {
                entries[place].count += 1
                entries[place].example = key
            } else if entries.count < Self.mostEntries {
                places[note.hash] = entries.count
                entries.append(Entry(disagreement: disagreement(note, walk), count: 1, example: key))
            } else {
                addToOthers(note, key)
            }
        }
    }

    /// There are as many of them as fields, kinds and types of values, whatever the records have.
    private mutating func addToOthers(_ note: DriftWalk.Note, _ key: String) {
        let field = note.field == DriftRules.noField ? Drift.others : rules.entity.fields[Int(note.field)].name
        let found = note.kind == .value ? Drift.others : note.found.word
        let others = Disagreement(field: field, kind: note.kind, found: found)
        let place = otherPlaces[others] ?? entries.count
        if place == entries.count {
            otherPlaces[others] = place
            entries.append(Entry(disagreement: others, count: 0, example: key))
        }
        entries[place].count += 1
        entries[place].example = key
    }

    private mutating func notePresence(_ walk: borrowing DriftWalk) {
        for field in present.indices where walk.hasSeen(field) { present[field] = true }
    }

    // MARK: As text

    private func disagreement(_ note: DriftWalk.Note, _ walk: borrowing DriftWalk) -> Disagreement {
        guard note.field != DriftRules.noField else {
            let name = walk.text(note.name)?.string ?? ""
            return Disagreement(field: Self.cut(name), kind: note.kind, found: note.found.word)
        }
        let field = rules.entity.fields[Int(note.field)]
        guard note.kind == .value else {
            return Disagreement(field: field.name, kind: note.kind, found: note.found.word)
        }
        // A secret is never shown, not even one that should not be there.
        let value = field.isStoredSealed ? Drift.others : Self.cut(walk.text(note.value)?.string ?? "")
        return Disagreement(field: field.name, kind: .value, found: value)
    }

    /// A value as `Drift.found` has it.
    package static func cut(_ text: String) -> String { text.cut(toScalars: longestText) }
}

extension DriftWalk {
    /// Whether the current record has this key.
    func keyIs(_ expected: String) -> Bool {
        guard !key.isEmpty else { return false }
        let inner = bytes[key.lowerBound] == UInt8(ascii: "\"") ? key.dropFirst().dropLast() : key
        var expected = expected
        return expected.withUTF8 { CheckedJSON.spells(bytes, inner, $0) }
    }
}

extension DriftWalk.Found {
    /// The type names of JSON Schema.
    package var word: String {
        switch self {
        case .nothing: "absent"
        case .null: "null"
        case .boolean: "boolean"
        case .integer: "integer"
        case .number: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}
