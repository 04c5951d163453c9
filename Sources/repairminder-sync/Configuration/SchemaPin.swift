import EntitySchema

/// What the schema must be, so that a file that was changed on the way, or did not arrive, is not used.
struct SchemaPin: Sendable, Equatable {
    struct Value: Sendable, Equatable {
        var text: String
        /// Where it is set.
        var place: String
    }

    /// The schema's own `version`.
    var version: Value?
    /// Of its file.
    var sha256: Value?

    func check(_ source: SchemaFinder.Source) throws(ConfigurationError) {
        guard let sha256, source.sha256 != sha256.text else { return }
        throw ConfigurationError(
            place: sha256.place,
            problem:
                "the schema \(source.file) is not the pinned one: its SHA-256 is \(source.sha256); put the right file "
                + "there, or pin that one")
    }

    func check(_ schema: EntitySchema, in file: String) throws(ConfigurationError) {
        guard let version, schema.version != version.text else { return }
        throw ConfigurationError(
            place: version.place,
            problem: "the schema \(file) is not the pinned one: it has "
                + (schema.version.map { "version \($0)" } ?? "no version") + "; expected \(version.text)")
    }
}
