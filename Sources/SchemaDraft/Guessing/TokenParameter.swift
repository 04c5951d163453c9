/// The parameter of the calls that carries the token, in a document that declares no way to sign in.
struct TokenParameter {
    let calls: [APIOperation]

    private static let headers: Set = [
        "authorization", "xapikey", "apikey", "xauthtoken", "authtoken", "xaccesstoken", "accesstoken", "apitoken",
        "xapitoken", "xtoken",
    ]
    private static let queries: Set = ["apikey", "apitoken", "accesstoken", "authtoken"]

    /// Whether a parameter has the token by its name.
    static func isToken(_ parameter: APIOperation.Parameter) -> Bool {
        let name = Words.folded(parameter.name)
        return parameter.place == "header" && headers.contains(name)
            || parameter.place == "query" && queries.contains(name)
    }

    func found(_ document: OpenAPIDocument) -> SignInGuess.Found? {
        guard !document.isObserved, let parameter = calls.lazy.flatMap(\.parameters).first(where: Self.isToken) else {
            return nil
        }
        let members = [
            ("type", "apiKey"), ("in", parameter.place), ("name", parameter.name),
            ("description", parameter.description ?? parameter.shape.example?.text ?? ""),
        ]
        let scheme = DocumentValue.object(DocumentObject(members.map { ($0.0, .scalar($0.1, isPlain: false)) }))
        return SignInGuess.found(scheme, "calls have the parameter \(parameter.name)", "", document)
    }
}
