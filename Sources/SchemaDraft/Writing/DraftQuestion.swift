/// A question about a draft, with the likely answer.
package struct DraftQuestion: Sendable, Equatable {
    enum Subject: Sendable, Equatable {
        case lists
        case address
        case signIn
        case key(entity: String)
        case changes(entity: String)
    }

    let subject: Subject
    package let text: String
    /// The likely answer; nil if there is none.
    package let likely: String?
    /// Other answers.
    package let others: [String]

    static func all(of model: DraftModel) -> [DraftQuestion] {
        let names = model.entities.map(\.name)
        var questions = [
            DraftQuestion(
                subject: .lists, text: "Which lists (names with commas between them)", likely: "all",
                others: Array(names.prefix(30)))
        ]
        if model.upstream.address == nil {
            questions.append(
                DraftQuestion(subject: .address, text: "The address of the API", likely: nil, others: ["https://…"]))
        }
        questions.append(
            DraftQuestion(
                subject: .signIn, text: "How requests carry the token", likely: word(model.upstream.signIn.value),
                others: ["bearer", "basic", "header:X-Api-Key", "query:api_key", "none"]))
        return questions + model.entities.flatMap(questions(about:))
    }

    private static func questions(about entity: DraftEntity) -> [DraftQuestion] {
        var questions: [DraftQuestion] = []
        if entity.key.reason?.contains("check that it differs") == true {
            let others = entity.fields.filter { $0.isPlain && $0.from == nil && $0.name != entity.key.value }
            questions.append(
                DraftQuestion(
                    subject: .key(entity: entity.name), text: "What identifies a record of \(entity.name)",
                    likely: entity.key.value, others: others.prefix(12).map(\.name)))
        }
        if let pull = entity.pull, pull.since == nil, let time = updateTime(of: entity) {
            questions.append(
                DraftQuestion(
                    subject: .changes(entity: entity.name),
                    text: "Which parameter of GET \(pull.path.value) asks for what changed since a time (\(time.name))",
                    likely: "none", others: ["updated_since", "modified_since"]))
        }
        return questions
    }

    private static func updateTime(of entity: DraftEntity) -> DraftField? {
        entity.fields.first { $0.isTime && Words.snake($0.name).contains("update") }
    }

    private static func word(_ signIn: DraftUpstream.SignIn) -> String {
        switch signIn {
        case .bearer: "bearer"
        case .basic: "basic"
        case .header(let name, _): "header:\(name)"
        case .query(let name): "query:\(name)"
        case .clientCredentials: "client credentials, as the document says"
        case .none: "none"
        }
    }

    // MARK: Answers

    func apply(_ answer: String, to model: inout DraftModel) throws(SchemaDraftError) {
        switch subject {
        case .lists: return
        case .address:
            guard answer.hasPrefix("https://") || answer.hasPrefix("http://") else {
                throw .nothing("\(answer) is not an address; expected one that begins with https://")
            }
            model.upstream.address = Guess(answer, "as answered")
            model.upstream.todos.removeAll { $0.hasPrefix("base_url") }
        case .signIn:
            model.upstream.signIn = Guess(try Self.signIn(answer), "as answered")
            model.upstream.todos.removeAll { $0.hasPrefix("auth") }
        case .key(let name):
            guard let index = model.entities.firstIndex(where: { $0.name == name }),
                model.entities[index][answer] != nil
            else { throw .nothing("\(name) has no field \(answer)") }
            model.entities[index].key = Guess(answer, "as answered")
        case .changes(let name):
            guard let index = model.entities.firstIndex(where: { $0.name == name }),
                let field = Self.updateTime(of: model.entities[index])
            else { return }
            let since = DraftEntity.Since(parameter: answer, field: field.name)
            model.entities[index].pull?.since = Guess(since, "as answered")
            model.entities[index].todos.removeAll { $0.hasPrefix("pull.since") }
        }
    }

    /// `bearer`, `basic`, `header:NAME`, `query:NAME` or `none`.
    static func signIn(_ text: String) throws(SchemaDraftError) -> DraftUpstream.SignIn {
        let parts = text.split(separator: ":", maxSplits: 1).map { String($0) }
        switch parts.first ?? "" {
        case "bearer": return .bearer
        case "basic": return .basic
        case "none": return .none
        case "header" where parts.count == 2 && SignInGuess.isHeader(parts[1]):
            return .header(name: parts[1], value: nil)
        case "query" where parts.count == 2: return .query(parts[1])
        default:
            throw .nothing(
                "\(text) is not a way to carry a token; expected bearer, basic, header:NAME, query:NAME or none")
        }
    }
}
