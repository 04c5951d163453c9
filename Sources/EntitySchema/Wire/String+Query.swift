extension String {
    /// A path with these parameters, after those that it has already.
    func adding(_ items: [QueryItem]) -> String {
        guard !items.isEmpty else { return self }
        let query = items.map { "\(Entity.percentEncoded($0.name))=\(Entity.percentEncoded($0.value))" }
        return self + (utf8.contains(UInt8(ascii: "?")) ? "&" : "?") + query.joined(separator: "&")
    }
}
