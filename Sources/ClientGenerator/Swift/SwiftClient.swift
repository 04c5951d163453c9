internal import EntitySchema

/// A schema as Swift: a type for each entity, over the library `RepairminderClient`.
struct SwiftClient {
    let outline: ClientOutline
    let header: [String]

    init(_ schema: EntitySchema, header: [String]) {
        outline = ClientOutline(schema, SwiftNames.rules)
        self.header = header
    }

    var text: String {
        let accessors = outline.records.flatMap { record in
            [
                "    /// The records of `\(record.entity)`.",
                "    public var \(SwiftNames.declared(record.accessor)): TypedRecords<\(record.type)> "
                    + "{ records(\(record.type).self) }",
            ]
        }
        let lines =
            header.map { "// \($0)" } + [
                "// swift-format-ignore-file", "", "public import Foundation", "public import RepairminderClient", "",
                "extension RepairminderClient {",
            ] + accessors + ["}"] + outline.records.flatMap { [""] + SwiftRecord(record: $0).lines }
        return lines.joined(separator: "\n") + "\n"
    }
}
