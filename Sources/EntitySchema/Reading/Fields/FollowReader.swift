/// Reads how a field follows its record's creation through the queue.
struct FollowReader {
    let node: SchemaNode
    let field: Field

    func following() throws(SchemaError) -> QueueFollowing {
        try node.requireKeys(["queued", "acknowledged", "failed", "then"])
        let acknowledged = try value(node.required("acknowledged"))
        let following = QueueFollowing(
            queued: try value(node.required("queued")), failed: try value(node.required("failed")),
            order: [acknowledged] + (try later()))
        var seen: Set<String> = []
        for word in [following.queued, following.failed] + following.order where !seen.insert(word).inserted {
            throw node.error("\(word) is used twice; each state needs its own value")
        }
        return following
    }

    private func later() throws(SchemaError) -> [String] {
        var values: [String] = []
        for node in try node.child("then")?.elements() ?? [] { values.append(try value(node)) }
        return values
    }

    private func value(_ node: SchemaNode) throws(SchemaError) -> String {
        let word = try node.string()
        switch field.kind {
        case .string, .enum: try node.check([word], for: field)
        default: throw node.error("only a field of type enum or string can follow the queue")
        }
        return word
    }
}
