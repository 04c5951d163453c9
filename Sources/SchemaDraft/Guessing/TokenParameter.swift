/// The parameter of the calls that carries the token, in a document that declares no way to sign in.
struct TokenParameter {
    let calls: [APIOperation]

    func found(_ document: OpenAPIDocument) -> SignInGuess.Found? {
        guard !document.isObserved, let parameter = calls.lazy.flatMap(\.parameters).first(where: \.isToken) else {
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
