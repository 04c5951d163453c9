internal import EntitySchema

/// A schema as one module of Python: a small client of the API, and a type for each entity.
struct PythonClient {
    let outline: ClientOutline
    let header: [String]

    init(_ schema: EntitySchema, header: [String]) {
        outline = ClientOutline(schema, PythonNames.rules)
        self.header = header
    }

    var text: String {
        let top = header.map { "# \($0)" } + ["from __future__ import annotations", ""]
        let classes: [[String]] = outline.records.flatMap { PythonRecord(record: $0).classes }
        let parts: [[String]] = [top] + Self.runtime.map { [$0] } + [names] + classes + [client, ends]
        let text = parts.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
        return text.replacing("\n\n\n\n", with: "\n\n\n")
    }

    /// The files that every module begins with, one after the other.
    private static var runtime: [String] {
        [
            PackageResources.values_py, PackageResources.queries_py, PackageResources.calls_py,
            PackageResources.records_py, PackageResources.queue_py, PackageResources.daemon_py,
        ].map { String(decoding: $0, as: UTF8.self) }
    }

    /// What other classes are made of: the types of ids and enums.
    private var names: [String] {
        let ids = outline.records.map { "\($0.idType) = NewType(\"\($0.idType)\", str)" }
        return ["# The schema", ""] + ids + outline.records.flatMap(\.enums).flatMap(lines(of:)) + [""]
    }

    private func lines(of list: EnumOutline) -> [String] {
        let declarations = list.values.map { value in
            let label = SafeText.comment(value.label.isEmpty ? value.value : value.label)
            return "    \(value.identifier): ClassVar[\(list.type)]  # \(label)"
        }
        let assignments = list.values.map {
            "\(list.type).\($0.identifier) = \(list.type)(\(SafeText.python($0.value)))"
        }
        return [
            "", "", "class \(list.type)(str):", "    \"\"\"One of a list that grows: an unknown value is kept.\"\"\"",
            "",
        ] + declarations + ["", ""] + assignments
    }

    private var client: [String] {
        let accessors = outline.records.flatMap { record in
            [
                "", "    @property", "    def \(record.accessor)(self) -> \(record.type)Records:",
                "        \"\"\"The records of `\(record.entity)`.\"\"\"",
                "        return \(record.type)Records(self, \(record.type), \(SafeText.python(record.entity)))",
            ]
        }
        return ["class RepairminderClient(LocalAPI):", "    \"\"\"The local API with the types of the schema.\"\"\""]
            + accessors + [""]
    }

    /// What refers to classes that come later.
    private var ends: [String] {
        outline.records.flatMap { record in
            [
                "\(record.type).fields = \(record.type)Fields()",
                "\(record.type).relations = \(record.type)Relations()",
            ]
        } + [""]
    }
}
