internal import EntitySchema
internal import JSONText
internal import SQLiteStore
internal import Secrets

/// Where the records of one entity in a file are sealed, as the file says: a database, or an exported queue.
///
/// Someone who can change the file could copy a secret into another field, and list that place as sealed to have it opened.
/// So the list has a proof that only a holder of the key can make, for this database and entity. Without a proof, as in files
/// of earlier versions, a value is opened only where its own field stands.
struct SealedPlaces {
    let entity: Entity
    /// The file's settings.
    let file: [String: String]

    init(of entity: Entity, in file: [String: String]) {
        self.entity = entity
        self.file = file
    }

    // MARK: Settings

    private static func list(_ entity: String) -> String { "secrets:\(entity)" }
    private static func proof(_ entity: String) -> String { "secrets_proof:\(entity)" }
    private static let database = "database"

    /// The settings that it needs of an entity.
    static func settings(of entity: String) -> [String] { [list(entity), proof(entity), database] }

    /// Whether the setting is part of what a file says about sealed values.
    static func isPart(_ name: String) -> Bool {
        name == "secrets_key" || name == database || name.hasPrefix(list("")) || name.hasPrefix(proof(""))
    }

    private var list: String? { file[Self.list(entity.name)] }

    /// Whether the file says where the entity's records are sealed.
    var isListed: Bool { list != nil }

    /// The settings of a file that is sealed as the schema says; none for an entity that never had secrets.
    func wanted(_ sealer: SecretSealer) -> [String: String] {
        guard list != nil || !entity.secretPlaces.isEmpty else { return [:] }
        let text = Self.text(entity.secretPlaces)
        return [Self.list(entity.name): text, Self.proof(entity.name): sealer.proof(of: proven(text))]
    }

    /// What the proof of a list is made of.
    private func proven(_ list: String) -> [UInt8] { Self.proven(list, of: entity.name, in: file[Self.database]) }

    private static func proven(_ list: String, of entity: String, in database: String?) -> [UInt8] {
        Array(JSONText.array([.string(database ?? ""), .string(entity), .string(list)]).bytes)
    }

    // MARK: An entity that the schema does not have

    /// Notes that the entity is sealed in this database as in the file, if `isNew` and nothing is known of it here. Returns
    /// the places that only one of the two has sealed. Without settings, the file is taken to be sealed as here.
    static func adopt(
        _ entity: String, from file: [String: String], isNew: Bool, _ settings: SettingTable, _ sealer: SecretSealer
    ) throws -> [SecretPlace] {
        let theirs = file.isEmpty ? nil : file[list(entity)] ?? "[]"
        if try settings[list(entity)] == nil, let own = isNew ? theirs : "[]" {
            try settings.set(list(entity), to: own)
            if let known = file[proof(entity)], sealer.isProof(known, of: proven(own, of: entity, in: file[database])) {
                let here = try settings[database]
                try settings.set(proof(entity), to: sealer.proof(of: proven(own, of: entity, in: here)))
            }
        }
        guard let theirs, let own = try settings[list(entity)], own != theirs else { return [] }
        let (here, there) = (try places(own), try places(theirs))
        return here.filter { !there.contains($0) } + there.filter { !here.contains($0) }
    }

    // MARK: Conversion

    /// What to open and what to seal to get from one state to the other.
    struct Conversion {
        var opening: RecordSealer
        /// Places in which nothing is opened, because nothing shows what was sealed there.
        var unproven: RecordSealer
        var sealing: RecordSealer

        /// Leaves out secrets that cannot be opened: the upstream still has them.
        func converted(_ text: String?) throws -> String? {
            try text.map { try converted(JSONText(parsing: $0)).text }
        }

        func converted(_ record: JSONText) throws -> JSONText {
            try sealing.seal(opening.open(unproven.withoutSealed(record)).record)
        }

        /// The fields of the record that cannot be opened.
        func unreadable(in record: JSONText) -> [String] {
            opening.open(record).unreadable + unproven.fields(in: record)
        }
    }

    /// Converts from the places that the file has sealed to those of the schema; nil if they are the same.
    func conversion(_ sealer: SecretSealer) throws -> Conversion? {
        let known = try list.map(Self.places) ?? []
        let wanted = entity.secretPlaces
        guard known != wanted else { return nil }
        let ending = known.filter { !wanted.contains($0) }
        let isProven = isProven(sealer)
        return Conversion(
            opening: RecordSealer(ending.filter { isProven || isOwn($0) }, sealer),
            unproven: RecordSealer(ending.filter { !isProven && !isOwn($0) }, sealer),
            sealing: RecordSealer(wanted.filter { !known.contains($0) }, sealer))
    }

    private func isProven(_ sealer: SecretSealer) -> Bool {
        guard let list, let proof = file[Self.proof(entity.name)] else { return false }
        return sealer.isProof(proof, of: proven(list))
    }

    /// Whether the field that was sealed there is in the clear there, as the schema is now, or is no longer in it.
    private func isOwn(_ place: SecretPlace) -> Bool {
        let field = entity[field: place.field]
        guard place.entity == entity.name, !(field?.isStoredSealed ?? false) else { return false }
        return [place.field, field?.source].compactMap { $0 }.contains { Entity.steps($0) == place.path }
    }

    // MARK: Places as text

    /// `[["device.passcode", "devices", "passcode"], …]`, with `[]` for the elements of a list.
    private static func text(_ places: [SecretPlace]) -> String {
        JSONText.array(
            places.map { place in
                let path = place.path.map { step in
                    if case .member(let name) = step { name } else { "[]" }
                }
                return .array([.string(path.joined(separator: ".")), .string(place.entity), .string(place.field)])
            }
        ).text
    }

    /// Whether each list of sealed places among a file's settings can be read.
    static func areReadable(in file: [String: String]) -> Bool {
        file.allSatisfy { name, text in !name.hasPrefix(list("")) || (try? places(text)) != nil }
    }

    private static func places(_ text: String) throws -> [SecretPlace] {
        let unreadable = CacheError.failed("the list of sealed places cannot be read: \(text)")
        guard let list = try? JSONText(parsing: text) else { throw unreadable }
        return try list.elements.map { place in
            let parts = place.elements.compactMap(\.string)
            guard parts.count == 3 else { throw unreadable }
            let path = parts[0].split(separator: ".").map {
                $0 == "[]" ? .elements : JSONPlaces.Step.member(String($0))
            }
            return SecretPlace(path: path, entity: parts[1], field: parts[2])
        }
    }
}
