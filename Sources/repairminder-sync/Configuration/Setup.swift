import EntitySchema

/// What a daemon runs with: configuration and schema, read together.
struct Setup: Sendable, Equatable {
    var configuration: Configuration
    var schema: EntitySchema
    /// Where the schema was read from.
    var schemaFile: String

    /// The upstream's address; nil while nobody has said it.
    var baseURL: String? { configuration.upstream.baseURL ?? schema.upstream.baseURL }
}
