internal import EntitySchema
internal import JSONText

/// Leaves secrets out of what SQL shows.
extension EntityTable {
    /// Whether a record may have a value that is stored only encrypted.
    var isSealed: Bool { !entity.secretPlaces.isEmpty }

    /// `json`, a record or part of one, without its secrets.
    func withoutSecrets(_ json: String) -> String {
        guard !entity.hiddenPlaces.isEmpty else { return json }
        var result = json
        let (own, embedded) = secretPaths
        for (list, paths) in embedded.sorted(by: { $0.key < $1.key }) {
            // Anything that is not an object stays byte for byte.
            result = """
                iif(json_type(\(result), \(list)) = 'array', json_replace(\(result), \(list), json((
                  SELECT json_group_array(json(iif(type = 'object', json_remove(value, \(paths.joined(separator: ", "))),
                    \(result) -> fullkey))) FROM json_each(\(result), \(list))))), \(result))
                """
        }
        return own.isEmpty ? result : "json_remove(\(result), \(own.joined(separator: ", ")))"
    }

    /// Whether there is a secret inside the field's value.
    func holdsSecrets(_ field: Field) -> Bool {
        entity.hiddenPlaces.contains { $0.path.first == .member(field.name) }
    }

    /// The paths in the record itself, and for each list the paths in its elements.
    private var secretPaths: (own: [String], embedded: [String: [String]]) {
        var own: [String] = []
        var embedded: [String: [String]] = [:]
        for place in entity.hiddenPlaces {
            if let list = place.path.firstIndex(of: .elements) {
                embedded[Self.sql(place.path[..<list]), default: []].append(Self.sql(place.path[(list + 1)...]))
            } else {
                own.append(Self.sql(place.path[...]))
            }
        }
        return (own, embedded)
    }

    private static func sql(_ steps: ArraySlice<JSONPlaces.Step>) -> String {
        let names = steps.map { step in
            if case .member(let name) = step { ".\"\(name)\"" } else { "" }
        }
        return "'$\(names.joined())'"
    }
}
