import Crypto
import EntitySchema
import Foundation
import JSONText
import ShippedSchemas
import Upstream

/// Finds and reads the schema that a configuration names.
struct SchemaFinder {
    let environment: Environment

    /// A schema as its author wrote it.
    struct Source: Equatable {
        /// The path of its file, or what it is called in messages.
        var file: String
        var text: String

        /// `sha256sum FILE | cut -c 1-64`.
        var sha256: String { String(hexadecimal: SHA256.hash(data: Data(text.utf8))) }
    }

    /// Whether `schema` is a path rather than a name: it has a slash or a file extension.
    static func isPath(_ schema: String) -> Bool {
        schema.contains("/") || [".yaml", ".yml", ".json"].contains { schema.hasSuffix($0) }
    }

    func schema(for configuration: Configuration) throws(ConfigurationError) -> EntitySchema {
        try schema(from: source(for: configuration), for: configuration)
    }

    /// Throws when it is not the schema that the configuration pins, or no schema.
    func schema(from source: Source, for configuration: Configuration) throws(ConfigurationError) -> EntitySchema {
        try configuration.schemaPin.check(source)
        let schema: EntitySchema
        do {
            schema = try EntitySchema(yaml: source.text, file: source.file, settings: configuration.upstream.settings)
        } catch {
            throw ConfigurationError(place: "", problem: "\(error)")
        }
        try configuration.schemaPin.check(schema, in: source.file)
        return schema
    }

    /// Throws when no directory has the schema; the error lists where it was searched.
    func source(for configuration: Configuration) throws(ConfigurationError) -> Source {
        if let bundle = configuration.bundle, let text = bundle.schema {
            return Source(file: "the schema of bundle \(bundle.serial)", text: text)
        }
        let name = configuration.schema
        if Self.isPath(name) { return Source(file: name, text: try environment.text(of: name)) }
        let folders = folders(for: configuration)
        if let path = folders.map({ "\($0)/\(name).yaml" }).first(where: environment.isFile) {
            return Source(file: path, text: try environment.text(of: path))
        }
        if let shipped = Self.shipped(name) { return shipped }
        let known = folders.flatMap(names) + ShippedSchemas.names
        let hint = Suggestion.hint(for: name, among: known, else: ".")
        throw ConfigurationError(
            place: "schema",
            problem: "no schema named \(name)\(hint) Searched for \(name).yaml in \(folders.joined(separator: ", ")) "
                + "and among those built in: \(ShippedSchemas.names.joined(separator: ", "))")
    }

    /// Where the lists of all other schemas stand that could be named instead.
    func lists(besides schema: EntitySchema, for configuration: Configuration) -> [ListElsewhere] {
        others(than: schema, for: configuration).flatMap(ListElsewhere.all)
    }

    /// All other schemas that could be named instead, as far as they can be read.
    private func others(than schema: EntitySchema, for configuration: Configuration) -> [EntitySchema] {
        var seen: Set = [schema.name]
        let files = folders(for: configuration).flatMap { folder in
            names(in: folder).sorted().compactMap { name in
                let path = "\(folder)/\(name).yaml"
                return (try? environment.text(of: path)).map { Source(file: path, text: $0) }
            }
        }
        return (files + ShippedSchemas.names.compactMap(Self.shipped)).compactMap {
            try? EntitySchema(yaml: $0.text, file: $0.file, settings: configuration.upstream.settings)
        }.filter { seen.insert($0.name).inserted }
    }

    /// Next to the configuration file, then the system's.
    private func folders(for configuration: Configuration) -> [String] {
        let system = environment.systemFolder + "/schemas"
        let beside = configuration.file.map { environment.folder(of: $0) + "/schemas" } ?? system
        return beside == system ? [system] : [beside, system]
    }

    /// The names of the schemas in a directory.
    private func names(in folder: String) -> [String] {
        environment.names(in: folder).filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }
    }

    private static func shipped(_ name: String) -> Source? {
        ShippedSchemas.text(of: name).map { Source(file: "\(name).yaml (built in)", text: $0) }
    }
}
