import EntitySchema
import Foundation
import Upstream

/// Finds and reads the schema that a configuration names.
struct SchemaFinder {
    let environment: Environment

    /// Whether `schema` is a path rather than a name: it has a slash or a file extension.
    static func isPath(_ schema: String) -> Bool {
        schema.contains("/") || [".yaml", ".yml", ".json"].contains { schema.hasSuffix($0) }
    }

    func schema(for configuration: Configuration) throws(ConfigurationError) -> EntitySchema {
        let path = try path(for: configuration)
        let text = try environment.text(of: path)
        do {
            return try EntitySchema(yaml: text, file: path, settings: configuration.upstream.settings)
        } catch {
            throw ConfigurationError(place: "", problem: "\(error)")
        }
    }

    /// Throws when no directory has the schema; the error lists where it was searched.
    func path(for configuration: Configuration) throws(ConfigurationError) -> String {
        let name = configuration.schema
        if Self.isPath(name) { return name }
        let folders = folders(for: configuration)
        if let found = folders.map({ "\($0)/\(name).yaml" }).first(where: environment.isFile) { return found }
        let known = folders.flatMap(environment.names).filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }
        let hint = Suggestion.nearest(to: name, among: known).map { "; did you mean \($0)?" } ?? "."
        throw ConfigurationError(
            place: "schema",
            problem: "no schema named \(name)\(hint) Searched for \(name).yaml in \(folders.joined(separator: ", "))")
    }

    /// Where the lists of all other schemas stand that could be named instead.
    func lists(besides schema: EntitySchema, for configuration: Configuration) -> [ListElsewhere] {
        others(than: schema, for: configuration).flatMap(ListElsewhere.all)
    }

    /// All other schemas that could be named instead, as far as they can be read.
    private func others(than schema: EntitySchema, for configuration: Configuration) -> [EntitySchema] {
        var seen: Set = [schema.name]
        return folders(for: configuration).flatMap { folder in
            environment.names(in: folder).filter { $0.hasSuffix(".yaml") }.sorted().compactMap { name in
                let path = "\(folder)/\(name)"
                let text = try? environment.text(of: path)
                return text.flatMap {
                    try? EntitySchema(yaml: $0, file: path, settings: configuration.upstream.settings)
                }
            }
        }.filter { seen.insert($0.name).inserted }
    }

    /// Next to the configuration file, then the system's, then those shipped with the program.
    private func folders(for configuration: Configuration) -> [String] {
        let beside = configuration.file.map { environment.folder(of: $0) + "/schemas" }
        return [beside, environment.systemFolder + "/schemas", shipped].compactMap(\.self)
    }

    /// `../share` of an installed program; the checkout's schemas for one built in a checkout.
    private var shipped: String {
        let folder = environment.folder(of: environment.executable)
        if let build = folder.range(of: "/.build/") { return folder[..<build.lowerBound] + "/config/schemas" }
        return environment.absolute("../share/repairminder-sync/schemas", from: folder)
    }
}
