/// Reads `content` of an entity.
struct ContentReader {
    let node: SchemaNode
    let plans: PlanReader
    /// The creation of a record carries its content.
    let isSentOnCreation: Bool

    func plan() throws(SchemaError) -> ContentPlan {
        try node.requireKeys(["url", "path", "upload", "delete", "types", "max_size", "state"])
        let plan = ContentPlan(
            address: try node.child("url")?.string(), path: try path(),
            upload: try route("upload", ["call", "record", "file"]),
            delete: try route("delete", ["call", "record"]),
            types: try types(), maximumSize: try size(), state: try node.child("state")?.string())
        guard plan.address != nil || plan.path != nil || plan.upload != nil || isSentOnCreation else {
            throw node.error("expected url, path or upload; without them there is no content to transfer")
        }
        return plan
    }

    private func path() throws(SchemaError) -> Template? {
        guard let path = node.child("path") else { return nil }
        guard node.child("url") == nil else { throw path.error("the content is at url or at path; remove one") }
        _ = try path.urlPath()
        return try path.template()
    }

    private func route(_ name: String, _ keys: [String]) throws(SchemaError) -> PushRoute? {
        guard let node = node.child(name) else { return nil }
        try node.requireKeys(keys)
        return try plans.route(node)
    }

    private func types() throws(SchemaError) -> [String] {
        guard let node = node.child("types") else { return ContentPlan.defaultTypes }
        let types = try node.strings()
        for type in types {
            let parts = type.split(separator: "/", omittingEmptySubsequences: false)
            let isType = parts.count == 2 && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(Self.isTypeByte) }
            guard isType else { throw node.error("\(type) is not a media type; expected one such as image/jpeg") }
        }
        return types
    }

    /// A byte of a restricted name (RFC 6838, 4.2) in lower case.
    private static func isTypeByte(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "!#$&-^_.+".utf8.contains(byte)
    }

    private func size() throws(SchemaError) -> Int {
        guard let node = node.child("max_size") else { return ContentPlan.defaultMaximumSize }
        guard let size = ByteCount(text: try node.string())?.bytes, (1...ContentPlan.largestSize).contains(size) else {
            throw node.error("expected a size such as 500KiB, 50MiB or 2GiB")
        }
        return size
    }
}
