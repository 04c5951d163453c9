internal import EntitySchema
internal import JSONText

/// Leaves secrets out of what SQL shows.
extension EntityTable {
    /// Whether a record may have a value that is stored only encrypted.
    var isSealed: Bool { !entity.secretPlaces.isEmpty }

    /// `json`, a record or part of one, without its secrets.
    func withoutSecrets(_ json: String) -> String {
        guard !entity.hiddenPlaces.isEmpty else { return json }
        let (own, embedded) = secretPaths
        var result = json
        for (list, paths) in embedded.sorted(by: { $0.key < $1.key }) {
            let inElement = paths.map { Self.removed($0, from: "value") }.joined(separator: ", ")
            let inObject = paths.map { Self.sql($0, below: list) }.joined(separator: ", ")
            // Anything that can hold no secret stays byte for byte.
            result = """
                CASE json_type(\(json), '\(list)') WHEN 'array' THEN json_replace(\(result), '\(list)', json((
                  SELECT json_group_array(json(CASE WHEN type = 'object' THEN json_remove(value, \(inElement))
                    WHEN type = 'array' OR type = 'text' AND value \(Self.isNoID) THEN 'null'
                    ELSE \(json) -> fullkey END)) FROM json_each(\(json), '\(list)'))))
                  WHEN 'object' THEN json_remove(\(result), \(inObject))
                  WHEN 'text' THEN json_remove(\(result), iif(json_extract(\(json), '\(list)') \(Self.isNoID), '\(list)', '$[0]'))
                  ELSE \(result) END
                """
        }
        let removed = own.map { Self.removed($0, from: json) }.joined(separator: ", ")
        return own.isEmpty ? result : "json_remove(\(result), \(removed))"
    }

    /// The path that is removed for a secret: its own, or that of the first member on the way that has another shape, in
    /// which it may be anywhere.
    private static func removed(_ steps: ArraySlice<JSONPlaces.Step>, from json: String) -> String {
        var path = sql(steps)
        for count in (1..<steps.count).reversed() {
            let parent = sql(steps.prefix(count))
            path = """
                iif(json_type(\(json), \(parent)) = 'array' OR json_type(\(json), \(parent)) = 'text'
                  AND json_extract(\(json), \(parent)) \(isNoID), \(parent), \(path))
                """
        }
        return path
    }

    /// Said of a text: it may be an object in some other form. What has only these characters is taken for the id of one.
    private static let isNoID = "GLOB '*[^A-Za-z0-9_.:-]*'"

    /// Whether there is a secret inside the field's value.
    func holdsSecrets(_ field: Field) -> Bool {
        entity.hiddenPlaces.contains { $0.path.first == .member(field.name) }
    }

    /// The paths in the record itself, and for each list, named by its path, those in its elements.
    private var secretPaths: (own: [ArraySlice<JSONPlaces.Step>], embedded: [String: [ArraySlice<JSONPlaces.Step>]]) {
        var own: [ArraySlice<JSONPlaces.Step>] = []
        var embedded: [String: [ArraySlice<JSONPlaces.Step>]] = [:]
        for place in entity.hiddenPlaces {
            if let list = place.path.firstIndex(of: .elements) {
                embedded["$" + Self.names(place.path[..<list]), default: []].append(place.path[(list + 1)...])
            } else {
                own.append(place.path[...])
            }
        }
        return (own, embedded)
    }

    private static func sql(_ steps: ArraySlice<JSONPlaces.Step>, below path: String = "$") -> String {
        "'\(path)\(names(steps))'"
    }

    private static func names(_ steps: ArraySlice<JSONPlaces.Step>) -> String {
        steps.map { step in
            if case .member(let name) = step { ".\"\(name)\"" } else { "" }
        }.joined()
    }
}
