/// A schema file that cannot be used: where, which key, and what was expected there.
package struct SchemaError: Error, Sendable, Equatable, CustomStringConvertible {
    package var file: String
    /// From 1; 0 when the whole file is meant.
    package var line: Int
    /// The path of keys to the place (`entities.orders.fields.status`); empty for the top.
    package var key: String
    package var problem: String

    package var description: String {
        "\(file):\(line): \(key.isEmpty ? "" : "\(key): ")\(problem)"
    }
}
