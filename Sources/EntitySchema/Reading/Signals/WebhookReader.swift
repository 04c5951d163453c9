/// Reads a source `webhook`: calls that the upstream makes, and how they are signed.
struct WebhookReader {
    let node: SchemaNode

    func webhook() throws(SchemaError) -> SignalWebhook {
        try node.requireKeys(["path", "signature", "challenge"] + SignalReader.readingKeys)
        let path = try node.required("path")
        let text = try path.fixedPath()
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !text.contains("?"), !text.contains("%") else {
            throw path.error("expected a path in plain ASCII without a query, such as /hooks/orders")
        }
        return SignalWebhook(
            path: text, signature: try signature(node.required("signature")),
            challenge: try node.child("challenge")?.string())
    }

    private func signature(_ node: SchemaNode) throws(SchemaError) -> SignalWebhook.Signature {
        try node.requireKeys(["header", "algorithm", "format", "prefix", "over", "timestamp"])
        let algorithm: SignalWebhook.Algorithm = try node.child("algorithm")?.word() ?? .sha256
        let time = try time(node.child("timestamp"))
        if algorithm == .token, let stray = ["format", "over", "timestamp"].lazy.compactMap(node.child).first {
            throw stray.error("algorithm: token compares the header with the secret itself; remove this key")
        }
        let over = try over(node.child("over"), hasTime: time != nil)
        if time != nil, !over.placeholders.contains(where: { $0.name == .value("timestamp") }) {
            throw try node.required("timestamp").error(
                "the time is not signed, so it proves nothing; write {$timestamp} in over, or remove timestamp")
        }
        return SignalWebhook.Signature(
            header: try node.required("header").headerName(), algorithm: algorithm,
            format: try node.child("format")?.word() ?? .hex, prefix: try node.child("prefix")?.string() ?? "",
            over: over, time: time)
    }

    /// What is signed; the body alone unless it says otherwise.
    private func over(_ node: SchemaNode?, hasTime: Bool) throws(SchemaError) -> ValueTemplate {
        let body = ValueTemplate.Part.placeholder(
            ValueTemplate.Placeholder(name: .value("body"), format: nil, source: "$body"))
        guard let node, node.value.text != "body" else { return ValueTemplate(parts: [body]) }
        var names = TemplateNames(values: hasTime ? ["body", "timestamp"] : ["body"], groups: ["header"])
        names.needs = ["timestamp": "it needs timestamp: { header: … } beside over"]
        let template = try node.valueTemplate(names)
        guard template.placeholders.contains(where: { $0.name == .value("body") }) else {
            throw node.error("the body is not signed; expected a text with {$body}, such as '{$timestamp}.{$body}'")
        }
        guard template.placeholders.allSatisfy({ $0.format == nil && !$0.isQuoted }) else {
            throw node.error("what is signed has no formats; remove the part after the colon")
        }
        return template
    }

    private func time(_ node: SchemaNode?) throws(SchemaError) -> SignalWebhook.Time? {
        guard let node else { return nil }
        try node.requireKeys(["header", "prefix", "tolerance"])
        var tolerance = Duration.seconds(300)
        if let node = node.child("tolerance") {
            tolerance = try node.duration()
            guard tolerance >= .seconds(1), tolerance <= .seconds(86_400) else {
                throw node.error("expected 1s to 24h")
            }
        }
        return SignalWebhook.Time(
            header: try node.required("header").headerName(), prefix: try node.child("prefix")?.string() ?? "",
            tolerance: tolerance)
    }
}
