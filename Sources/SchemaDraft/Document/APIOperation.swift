/// One call that the document describes.
struct APIOperation: Sendable {
    struct Parameter: Sendable {
        var name: String
        /// `query`, `header`, `path`, `cookie`.
        var place: String
        var isRequired: Bool
        var description: String?
        var shape: DataShape
        /// What stands between the elements of a list; nil if the parameter is repeated for each.
        var separator: String?
    }

    /// What is sent or answered in one media type.
    struct Body: Sendable {
        var mediaType: String
        var shape: DataShape
        /// Only an example says what it has, which may leave out some.
        var isShown = false

        /// Whether it is JSON, or anything.
        var isJSON: Bool { mediaType.contains("json") || mediaType == "*/*" }
    }

    /// In capitals.
    var method: String
    var path: PathPattern
    var parameters: [Parameter]
    var bodies: [Body]
    /// Of the first status that means success.
    var answer: DataShape?
    /// The headers of that answer.
    var answerHeaders: [String]
    /// The shape of the first error that the document describes.
    var error: DataShape?
    /// The names of the security schemes of the first alternative; nil where the document's own apply.
    var security: [String]?
    /// Summary, id and description: what words say about it.
    var words: String
    /// Its summary and its id.
    var titles: [String] = []
    /// Where its answer was seen to name the next page, as the value of its only parameter that is a text.
    var nextPlace: String?
    /// How many records its answer was seen to have, if only that says what it answers.
    var seenRecords: Int?
    /// Whether 201 is the only success that the document names.
    var isAnsweredCreated = false
    /// The media type of the JSON that it answers; nil if the document does not say.
    var answerType: String?

    var queries: [Parameter] { parameters.filter { $0.place == "query" } }

    func header(_ name: String) -> Parameter? {
        parameters.first { $0.place == "header" && $0.name.lowercased() == name.lowercased() }
    }
}
