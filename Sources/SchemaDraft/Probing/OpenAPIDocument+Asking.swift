package import EntitySchema

/// What a document says about asking its lists.
extension OpenAPIDocument {
    /// Where requests have the token; nil if it does not say so.
    package var tokenPlace: TokenPlace? {
        SignInGuess(document: self, operations: operations).found().signIn.value.place
    }

    /// The address in front of all paths, with HOST for what it does not say. `source`: where it came from.
    package func address(source: String) -> String {
        if let known = UpstreamGuess(document: self, collections: [], source: source).address() { return known.value }
        return "https://HOST" + UpstreamGuess.path(of: addresses.first ?? "")
    }
}
