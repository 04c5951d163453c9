/// The word in front of the token in the header `Authorization`, as a document shows or names it.
struct AuthorizationWord {
    /// With the space after it; nil if the document does not say.
    let text: String?

    /// `name`: that of the security scheme.
    init(_ scheme: DocumentValue, _ name: String, _ document: OpenAPIDocument) {
        let said = scheme["description"]?.text ?? ""
        text =
            Self.shown(in: said) ?? Self.usual(in: said) ?? Self.named(in: said) ?? Self.shown(in: document.about)
            ?? (Self.isBearer("\(name) \(said)") ? "Bearer " : nil)
    }

    /// `Authorization: SSWS {token}`.
    private static func shown(in text: String) -> String? {
        text.firstMatch(of: /Authorization:\s*([A-Za-z][A-Za-z0-9-]*) +[<{\[(A-Za-z]/).map { "\($0.1) " }
    }

    private static func usual(in text: String) -> String? {
        let words = text.lowercased()
        return ["Token token=", "Bearer ", "Token ", "ApiKey ", "Basic "].first { words.contains($0.lowercased()) }
    }

    /// `with required prefix "Token"`.
    private static func named(in text: String) -> String? {
        text.firstMatch(of: /prefix(?:ed)?:?\s+(?:with\s+)?["'`]?([A-Za-z][A-Za-z0-9-]*)/.ignoresCase()).map {
            "\($0.1) "
        }
    }

    /// Whether a name or text says so: `JWT`, or `BearerAuth` as generators for Go and Django call a scheme.
    private static func isBearer(_ text: String) -> Bool {
        ["jwt", "bearer"].contains(where: text.lowercased().contains)
    }
}
