package import JSONText

/// Several changes as one request.
package struct BatchRequest: Sendable, Equatable {
    /// One change in it.
    package struct Element: Sendable, Equatable {
        /// What its own route would send.
        package var request: PushRequest
        package var idempotencyKey: String
        /// Whether the batch shows it to the upstream.
        package var isKeyShown: Bool
        /// The key of the record that it changes.
        package var key: String
        /// The fields that the template names.
        var values: [String: JSONText]
    }

    package var plan: BatchPlan
    package var elements: [Element]

    package init(plan: BatchPlan, elements: [Element]) {
        self.plan = plan
        self.elements = elements
    }

    /// The request as it is sent, without the token.
    package func request(_ upstream: UpstreamPlan) -> WireRequest {
        let changes = elements.indices.map { json(of: $0, upstream) ?? .null }
        let body = plan.body.filled({ $0 == .changes ? JSONText.array(changes) : .none }, { _ in .none })
        let key = idempotencyKey(of: body ?? .null)
        var headers = [WireRequest.Header("Content-Type", plan.mediaType)]
        if let name = keyHeader(upstream) { headers.append(WireRequest.Header(name, key)) }
        headers.append(.json)
        headers += trace?.headers(of: key) ?? []
        var request = WireRequest(method: plan.method, path: plan.path, headers: headers, body: body)
        request.secrets = elements.flatMap(\.request.secrets)
        request.secretMembers = elements.reduce(into: []) { $0.formUnion($1.request.secretMembers) }
        request.hasManyAnswers = true
        return request
    }

    /// The header for the key of the batch; nil if the upstream does not look for it in one of the changes.
    private func keyHeader(_ upstream: UpstreamPlan) -> String? {
        guard elements.allSatisfy({ upstream.keyHeader(of: $0.request.operation) != nil }) else { return nil }
        return upstream.idempotencyHeader?.name
    }

    /// The trace that all of the changes belong to, if their callers named the same parent.
    private var trace: TraceContext? {
        guard let first = elements.first?.request.trace else { return nil }
        return elements.allSatisfy { $0.request.trace?.stored == first.stored } ? first : nil
    }

    /// One element as it is sent.
    package func json(of index: Int, _ upstream: UpstreamPlan) -> JSONText? {
        let element = elements[index]
        let own = element.request.request(upstream, idempotencyKey: element.idempotencyKey)
        return plan.elements[element.request.operation]?.filled(
            { slot in
                switch slot {
                case .changes: .none
                case .body: own.body
                case .fields: element.request.body
                }
            }, { value($0, of: index, own, upstream) })
    }

    /// What the result of an element repeats; nil if results are matched by their order, or the value is not known.
    package func mark(of index: Int, _ upstream: UpstreamPlan) -> String? {
        guard case .value(_, let template) = plan.match else { return nil }
        let element = elements[index]
        let own = element.request.request(upstream, idempotencyKey: element.idempotencyKey)
        return template.text { value($0, of: index, own, upstream) }
    }

    private func value(
        _ name: ValueTemplate.Name, of index: Int, _ own: WireRequest, _ upstream: UpstreamPlan
    ) -> JSONText? {
        let element = elements[index]
        switch name {
        case .field(let name): return element.values[name]
        case .value("method"): return .string(own.method)
        case .value("path"): return .string(own.path)
        case .value("operation"): return .string(element.request.operation.rawValue)
        // Counts from 1, as text: of the upstreams that ask for one, some take nothing else.
        case .value("id"): return .string("\(index + 1)")
        case .value("key"): return .string(element.idempotencyKey)
        case .value("type"): return own.headers.first { $0.name == "Content-Type" }.map { .string($0.value) }
        case .value("version"): return element.request.version.map { .string(upstream.header(ofVersion: $0).value) }
        case .value, .secret, .now: return .none
        }
    }

    /// The same for the same changes in the same order. Later changes can have the same body, and under the same key
    /// the upstream would repeat its first answer instead of applying them.
    private func idempotencyKey(of body: JSONText) -> String {
        let text = ([body.text] + elements.map(\.idempotencyKey)).joined(separator: "\n")
        return "batch-" + KeyForm.text(alphabet: Array("0123456789abcdef"), length: 32).key(from: text)
    }
}

extension Entity {
    /// A change as an element of a batch.
    package func element(
        _ request: PushRequest, of record: JSONText, idempotencyKey: String, in plan: BatchPlan
    ) -> BatchRequest.Element {
        var values: [String: JSONText] = [:]
        for name in plan.fieldNames { values[name] = value(of: name, in: record) }
        return BatchRequest.Element(
            request: request, idempotencyKey: idempotencyKey, isKeyShown: request.isKeyShown(in: plan),
            key: record[key]?.plain ?? "", values: values)
    }
}
