import Testing

@testable import EntitySchema

/// Why a schema is refused; nil if it is accepted.
func refusal(of yaml: String) -> SchemaError? {
    do {
        _ = try EntitySchema(yaml: yaml, file: "small.yaml")
        return nil
    } catch {
        return error
    }
}

/// Expects that a schema was refused at this key, with these words.
func expectRefusal(
    _ error: SchemaError?, _ key: String, _ words: String, sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(
        error?.key == key && error?.problem.contains(words) == true, "\(error?.description ?? "accepted")",
        sourceLocation: sourceLocation)
}

/// Expects that a schema is refused with these words.
func expectRefusal<Value>(
    _ words: String, sourceLocation: SourceLocation = #_sourceLocation, _ read: () throws -> Value
) {
    #expect(sourceLocation: sourceLocation) {
        try read()
    } throws: { ($0 as? SchemaError)?.problem.contains(words) == true }
}
