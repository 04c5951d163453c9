/// The parameter of the calls that carries the token, in a document that declares no way to sign in.
struct TokenParameter {
    /// Those of the draft, which count before others.
    let calls: [APIOperation]

    func found(_ document: OpenAPIDocument) -> SignInGuess.Found? {
        let all = calls + document.operations
        guard !document.isObserved, let parameter = all.lazy.flatMap(\.parameters).first(where: \.isToken) else {
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
