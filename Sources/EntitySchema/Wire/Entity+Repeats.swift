package import JSONText

/// Which changes the upstream recognizes by their idempotency key when they are sent twice.
extension Entity {
    /// Whether the route that sends this change carries its key.
    package func recognizesRepeats(
        of operation: Operation, record: JSONText, fields: [String], _ upstream: UpstreamPlan
    ) -> Bool {
        upstream.keyHeader(of: operation) != nil
            || route(for: operation, record: record, fields: fields).map(\.namesKey) ?? false
    }
}

extension PushRoute {
    /// Whether the key stands in the path, the query or the body.
    package var namesKey: Bool { isKeyInPath || isKeyInBody }

    private var isKeyInPath: Bool { path.placeholders.contains(Template.key) }
    private var isKeyInBody: Bool { envelope?.namesKey ?? false }

    /// Whether an element of the batch carries the key: by itself, or in what the route sends.
    package func isKeyShown(in plan: BatchPlan, for operation: Operation) -> Bool {
        plan.showsKey(of: operation, inPath: isKeyInPath, inBody: isKeyInBody)
    }
}

extension PushRequest {
    func isKeyShown(in plan: BatchPlan) -> Bool {
        plan.showsKey(of: operation, inPath: path.contains(Self.keyMark), inBody: envelope?.namesKey ?? false)
    }
}

extension BatchPlan {
    fileprivate func showsKey(of operation: Operation, inPath: Bool, inBody: Bool) -> Bool {
        guard let element = elements[operation] else { return false }
        let names = element.names
        return names.contains(.value("key")) || inPath && names.contains(.value("path"))
            || inBody && element.slots.contains(.body)
    }
}
