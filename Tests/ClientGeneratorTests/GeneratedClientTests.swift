import ClientGenerator
import EntitySchema
import Foundation
import TestSupport
import Testing

@Suite("Generated clients")
struct GeneratedClientTests {
    private func text(_ yaml: String, _ language: GeneratedClient.Language) throws -> String {
        GeneratedClient(try EntitySchema(yaml: yaml, file: "schema.yaml", settings: ["user": "1"]), hash: "5f0c")
            .text(in: language)
    }

    @Test("every schema of config/schemas gives the same text each time", arguments: GeneratedClient.Language.allCases)
    func schemas(language: GeneratedClient.Language) throws {
        let folder = ProjectFiles.root.appending(path: "config/schemas").path
        let files = try #require(FileManager.default.enumerator(atPath: folder)).compactMap { $0 as? String }
            .filter { $0.hasSuffix(".yaml") }
        #expect(files.count > 10)
        for file in files {
            let yaml = try String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8)
            let first = try text(yaml, language)
            #expect(try first == text(yaml, language), "\(file)")
            #expect(first.contains("SHA-256 5f0c."), "\(file)")
        }
    }

    @Test("an order has typed fields, only what can be written is named, and secrets are not read")
    func order() throws {
        let yaml = try ProjectFiles.text("config/schemas/repairminder.yaml")
        let swift = try text(yaml, .swift)
        #expect(swift.contains("    public var total: Decimal? { record.value(\"total\") }\n"))
        #expect(swift.contains("        public static let inProgress: Status = \"in_progress\"\n"))
        #expect(swift.contains("        public init(clientID: Client.ID) {\n"))
        #expect(swift.contains("extension Filters<Order.Fields> {\n    public var client: Client.Fields"))
        #expect(!swift.contains("record.value(\"passcode\")"))
        let python = try text(yaml, .python)
        #expect(python.contains("class OrderChanges(TypedDict, total=False):"))
        #expect(python.contains("    status: Optional[OrderStatus]\n    notes: Optional[str]\n\n"))
        #expect(python.contains("class _OrderNew(TypedDict):"))
        #expect(!python.contains("self._at(\"passcode\")"))
    }

    @Test("names that mean something in a language become others, each once")
    func names() throws {
        let swift = try text(Self.hostile, .swift)
        for line in [
            "public var `default`: Bool?", "public var selfField: String?", "public var orderNumber2: Int?",
            "public var fieldsField: Bool? { get { fields.value(\"Fields\") } set { fields.set(\"Fields\", to: newValue) } }",
            "public struct TaskRecord:", "public var queueRecords: TypedRecords<QueueRecord>",
            "public static let value1: StringValue = \"1\"", "public static let noneValue: StringValue = \"none\"",
        ] { #expect(swift.contains(line), "\(line)") }
        let python = try text(Self.hostile, .python)
        for line in [
            "    def class_field(self)", "    def class_records(self)", "        \"class\": Optional[str],",
            "    VALUE_1: ClassVar[TaskString]  # One",
        ] { #expect(python.contains(line), "\(line)") }
    }

    @Test("Python has typed calls for the queue and the daemon, which no entity hides")
    func daemon() throws {
        let python = try text(Self.hostile, .python)
        for line in [
            "class RepairminderClient(LocalAPI):", "    def queue(self) -> Queue:",
            "    def conflicts(self) -> Conflicts:", "    def reminders(self) -> Reminders:",
            "    def hooks(self) -> Hooks:", "    def daemon(self) -> Daemon:",
            "    def resolve(self, id: int, winner: Literal[\"local\", \"server\"]) -> Conflict:",
            "    def queue_records(self) -> QueueRecordRecords:", "    def hooks_records(self) -> HookRecordRecords:",
            "    def daemon_records(self) -> DaemonRecordRecords:",
        ] { #expect(python.components(separatedBy: "\n\(line)\n").count == 2, "\(line)") }
        let classes = python.split(separator: "\n").filter { $0.hasPrefix("class ") }
            .map { $0.dropFirst(6).prefix { $0.isLetter || $0.isNumber || $0 == "_" } }
        #expect(Set(classes).count == classes.count)
    }

    @Test("no text of a schema becomes code", arguments: GeneratedClient.Language.allCases)
    func injection(language: GeneratedClient.Language) throws {
        let code = try text(Self.hostile, language)
        #expect(!code.contains("\nimport evil\n") && !code.contains("\u{202E}"))
        let backslash = language == .swift ? #""a\"b\\(c)\u{a}""# : #""a\"b\\(c)\u000a""#
        #expect(code.contains(backslash))
    }

    /// Names of the languages, of what is generated, and labels and values that are code.
    private static let hostile = #"""
        schema: hostile
        title: "*/ \"); import evil #"
        upstream:
          base_url: https://example.com
          pagination: { style: page, page: page, size: limit, page_size: 100 }
          records: data
        entities:
          tasks:
            title: "{id}"
            fields:
              id: { type: string }
              class: { type: string }
              description: { type: string }
              self: { type: string }
              default: { type: boolean }
              _private: { type: string }
              private: { type: string }
              __dunder: { type: string }
              orderNumber: { type: integer }
              order_number_: { type: integer }
              value: { type: string }
              new_value: { type: money, from: 'a."b(c) d"' }
              hash: { type: string }
              json: { type: object }
              tags: { type: list }
              Fields: { type: boolean }
              day: { type: date }
              none: { type: reference, to: strings }
              String: { type: enum, values: { "1": "One", "a b": "x\nimport evil", "a-b": "\"\"\"; import evil; \\", "none": "\u202egnp", "ä": "x", "self": "y", "a\"b\\(c)\n": "z" } }
              data: { type: enum, values: { def: "*/ #", class: "`", None: "u" } }
            many:
              strings: { of: strings, by: task_id }
            pull: { path: /tasks }
            push: { create: { call: POST /tasks }, update: { call: "PATCH /tasks/{id}" }, delete: { call: "DELETE /tasks/{id}" } }
          strings:
            key: sku
            title: "{sku}"
            fields:
              sku: { type: integer }
              id: { type: string }
              task_id: { type: reference, to: tasks, required: true }
              in: { type: string, required: true }
            pull: { path: /strings }
            push: { create: { call: POST /strings }, update: { call: "PATCH /strings/{sku}" }, delete: { call: "DELETE /strings/{sku}" } }
          string: { fields: { id: { type: string } }, pull: { path: /x } }
          records: { fields: { id: { type: string } }, pull: { path: /y } }
          class: { fields: { id: { type: string } }, pull: { path: /z } }
          types: { fields: { id: { type: string } }, pull: { path: /w } }
          import: { fields: { id: { type: string } }, pull: { path: /v } }
          queue: { fields: { id: { type: string } }, pull: { path: /u } }
          hooks: { fields: { id: { type: string } }, pull: { path: /t } }
          daemon: { fields: { id: { type: string } }, pull: { path: /s } }
          queued_changes: { fields: { id: { type: string } }, pull: { path: /r } }
        """#
}
