package import EntitySchema
internal import JSONText

/// What the records of one entity should look like, compiled so that a record is checked byte by byte.
package struct DriftRules {
    /// What a value should be; `anything` for members that only syncing uses.
    package enum Expected: UInt8 {
        case anything, string, integer, number, boolean, time, key, object, list, oneOf, quotedNumber, day
    }

    /// A name that a record may have: its field, and the scope of its own members.
    package struct Member {
        var field: Int32
        var expected: Expected
        /// The scope of the member's own members; 0, the record's own scope, if they are not checked.
        var inside: Int32
        var isKey = false
    }

    package static let noField: Int32 = -1

    package let entity: Entity
    /// For each field, whether records are compared with it: what is inside a list is not.
    package let isCompared: [Bool]
    /// Fields that every record must have, as indexes into `entity.fields`.
    package let required: [Int]
    package private(set) var members: [Member] = []
    /// For each member, the fields inside it.
    package let fieldsInside: [[Int32]]
    package let names: NameTable
    /// The scope in which the values of each field's enum are looked up.
    package static func enumScope(of field: Int32) -> Int32 { -1 - field }

    package init(_ entity: Entity) {
        self.entity = entity
        isCompared = entity.fields.map { $0.source.map { Self.placeOfList($0) == nil } ?? true }
        required = entity.fields.indices.filter { [isCompared] index in
            let field = entity.fields[index]
            return isCompared[index] && (field.required && !field.isWriteOnly || field.name == entity.key)
        }
        var builder = Builder()
        for (index, field) in entity.fields.enumerated() {
            builder.add(field, Int32(index), isKey: field.name == entity.key)
        }
        for (index, field) in entity.fields.enumerated() { builder.add(sourceOf: field, Int32(index)) }
        for name in Self.membersForSyncing(entity) { builder.addContainer(JSONPath.steps(name).map(String.init)) }
        members = builder.members
        fieldsInside = builder.fieldsInside
        names = NameTable(builder.entries)
    }

    /// Which step of the place leads into a list; nil if none does.
    fileprivate static func placeOfList(_ source: String) -> Int? {
        JSONPath.steps(source).firstIndex { $0 == "*" || Int($0) != nil }
    }

    /// Names that are not fields but still expected, because they control syncing.
    private static func membersForSyncing(_ entity: Entity) -> [String] {
        let pull = entity.pull
        var names = [pull?.deleted?.name, pull?.changedAt].compactMap { $0 }
        names += entity.lift?.paths ?? []
        // Children embedded in the record itself.
        for detail in pull?.details ?? [] where detail.path == nil {
            names += detail.list.records.paths.filter { !$0.isEmpty }
        }
        return names
    }

    /// Changes whenever drift that was counted by older rules must be counted again.
    package var fingerprint: String {
        let fields = entity.fields.map { field in
            "\(field.name) \(field.kind) \(field.source ?? "") \(field.required) \(field.isStoredSealed)\(field.isDerivedHere ? " kept" : "")\(field.isTextOnWire ? " quoted" : "")\(field.dayFormat?.word ?? "")\(field.isWriteOnly ? " sent" : "")"
        }
        let text = (fields + Self.membersForSyncing(entity)).joined(separator: "\n")
        return String(text.utf8.reduce(NameTable.seed(0), NameTable.mix), radix: 16)
    }
}

extension DriftRules {
    /// Collects names; the first entry of a name wins.
    private struct Builder {
        var members: [Member] = []
        var fieldsInside: [[Int32]] = []
        var entries: [(scope: Int32, name: String, value: Int32)] = []
        private var scopes: Int32 = 0
        private var places: [Place: Int] = [:]

        private struct Place: Hashable {
            var scope: Int32
            var name: String
        }

        mutating func add(_ field: Field, _ index: Int32, isKey: Bool) {
            add(0, field.name, Member(field: index, expected: Expected(field), inside: 0, isKey: isKey))
            guard case .enum(let values) = field.kind else { return }
            for value in values { entries.append((DriftRules.enumScope(of: index), value.value, 0)) }
        }

        mutating func add(sourceOf field: Field, _ index: Int32) {
            guard let source = field.source else { return }
            let path = JSONPath.steps(source).map(String.init)
            if let list = DriftRules.placeOfList(source) {
                addContainer(Array(path[..<list]))
                return
            }
            guard let last = path.last else { return }
            let scope = addContainer(path.dropLast(), of: index)
            add(scope, last, Member(field: index, expected: Expected(field), inside: 0))
        }

        /// Adds every name on the path to a field; returns the scope at its end.
        @discardableResult
        mutating func addContainer(_ path: [String], of field: Int32? = nil) -> Int32 {
            path.reduce(0) { scope, name in
                let index = add(
                    scope, name, Member(field: DriftRules.noField, expected: .anything, inside: 0))
                if members[index].inside == 0 {
                    scopes += 1
                    members[index].inside = scopes
                }
                if let field { fieldsInside[index].append(field) }
                return members[index].inside
            }
        }

        @discardableResult
        private mutating func add(_ scope: Int32, _ name: String, _ member: Member) -> Int {
            let place = Place(scope: scope, name: name)
            if let known = places[place] { return known }
            places[place] = members.count
            entries.append((scope, name, Int32(members.count)))
            members.append(member)
            fieldsInside.append([])
            return members.count - 1
        }
    }
}

extension DriftRules.Expected {
    package init(_ field: Field) {
        switch field.kind {
        case .integer where field.isTextOnWire, .number where field.isTextOnWire, .money where field.isTextOnWire:
            self = .quotedNumber
        case .boolean where field.isTextOnWire: self = .string
        case .string: self = .string
        case .integer: self = .integer
        case .number, .money: self = .number
        case .boolean: self = .boolean
        case .date where field.dayFormat?.isNumber == true: self = .integer
        case .time: self = .time
        case .date where field.dayFormat?.dayPattern != nil: self = .string
        case .date: self = field.dayFormat == nil ? .day : .time
        case .reference: self = .key
        case .object: self = .object
        case .list: self = .list
        case .enum: self = .oneOf
        }
    }
}
