/// A document in a few lines: schemas and paths, each in YAML's flow style.
struct SmallDocument {
    /// `Order: { type: object, … }`.
    var schemas: [String]
    /// `/orders: { get: … }`.
    var paths: [String]
    /// More members of the document.
    var rest = ["servers: [{ url: \"https://api.shop.example\" }]"]

    var text: String {
        let head = ["openapi: 3.0.3", "info: { title: Shop, version: \"1\" }"] + rest
        return
            (head + ["components:", "  schemas:"] + schemas.map { "    \($0)" } + ["paths:"] + paths.map { "  \($0)" })
            .joined(separator: "\n")
    }

    /// A GET of a list of these records.
    static func list(_ name: String, _ more: String = "") -> String {
        "get: { \(more) \(answers("type: array, items: { \(reference(name)) }")) }"
    }

    /// A GET of one record.
    static func single(_ name: String, _ more: String = "") -> String { "get: { \(more) \(answers(reference(name))) }" }

    /// A call that sends one schema and answers another.
    static func call(_ method: String, _ sent: String, _ answered: String, _ more: String = "") -> String {
        "\(method): { \(more) requestBody: { content: { application/json: { schema: { \(reference(sent)) } } } }, \(answers(reference(answered))) }"
    }

    static let deletion = "delete: { responses: { \"204\": { description: gone } } }"

    static func answers(_ schema: String) -> String {
        "responses: { \"200\": { description: ok, content: { application/json: { schema: { \(schema) } } } } }"
    }

    private static func reference(_ name: String) -> String { "$ref: \"#/components/schemas/\(name)\"" }
}
