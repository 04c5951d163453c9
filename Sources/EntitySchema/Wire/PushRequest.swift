package import JSONText

/// A change as the schema's route sends it, with the placeholders of its path filled in.
package struct PushRequest: Sendable, Equatable {
    /// The entity of the record that it changes.
    package var entity: String
    package var method: String
    /// Below the base address, percent-encoded; `keyMark` stands for the idempotency key.
    package var path: String
    /// Nil when the request has no JSON body.
    package var body: JSONText?
    /// What is sent around `body`.
    package var envelope: BodyTemplate?
    package var encoding = BodyEncoding.plain
    /// Where the response holds the record as it now is.
    package var record: Place
    /// That place is the upstream's, not one that the route sets.
    package var isRecordInherited = true
    /// The member that identifies the record.
    package var key = "id"
    /// The record's own value of it; nil of a new record, whose key the upstream may choose.
    package var recordKey: String?
    /// What the record gets when it is read from the response; nil if nothing.
    package var lift: Lift?
    package var operation: Operation
    /// The version of the record that the change is based on; the upstream refuses the change when it has another one.
    package var version: String?
    /// The content that is sent from its file: as the body instead of `body`, or as the part `file` beside it.
    package var content: Content?
    /// Set when the body is multipart/form-data: the members of `body` are its first parts, the content is the last.
    package var file: File?
    /// Texts in the change or its record that nothing may repeat, such as an error that quotes them.
    package var secrets: [String] = []
    /// The members of the answer that hold secrets, which nothing may repeat either.
    package var secretMembers: Set<String> = []
    /// The trace that the change belongs to.
    package var trace: TraceContext?

    /// The part of a form that carries content.
    package struct File: Sendable, Equatable {
        package var part: String
        /// The key of the record, which names the file.
        package var record: String

        package init(part: String, record: String) {
            self.part = part
            self.record = record
        }
    }

    /// No value of a record can contain it in a path.
    static let keyMark = "{\(Template.key)}"

    package init(
        entity: String = "", method: String, path: String, body: JSONText?, record: Place = .itself,
        version: String? = nil, operation: Operation? = nil
    ) {
        self.entity = entity
        self.method = method
        self.path = path
        self.body = body
        self.record = record
        self.version = version
        self.operation = operation ?? (method == "DELETE" ? .delete : method == "POST" ? .create : .update)
    }

    /// The request as it is sent, without the token.
    ///
    /// Every attempt of one change carries the same key, so the upstream recognises a repeat.
    package func request(_ plan: UpstreamPlan, idempotencyKey: String) -> WireRequest {
        var headers: [WireRequest.Header] = []
        if let name = plan.keyHeader(of: operation) { headers.append(WireRequest.Header(name, idempotencyKey)) }
        if let version { headers.append(plan.header(ofVersion: version)) }
        let form = form(idempotencyKey: idempotencyKey)
        let type = form?.type ?? content?.type ?? (body == nil ? nil : encoding.mediaType)
        if let type { headers.append(WireRequest.Header("Content-Type", type)) }
        headers.append(.json)
        headers += plan.headersForTags
        headers += trace?.headers(of: idempotencyKey) ?? []
        let hasKey = path.utf8.contains(UInt8(ascii: "{"))
        let path = hasKey ? path.replacing(Self.keyMark, with: Entity.percentEncoded(idempotencyKey)) : path
        var request = WireRequest(method: method, path: path, headers: headers)
        if form == nil, let sent = body.map({ envelope?.enclosing($0, key: .string(idempotencyKey)) ?? $0 }) {
            request.body = encoding.json(sent)
            if encoding == .form { request.text = FormBody.text(of: sent) }
        }
        request.secrets = secrets
        request.secretMembers = secretMembers
        return request
    }

    /// The form that encloses the content; nil when the content, or JSON, is the whole body.
    package func form(idempotencyKey: String) -> MultipartForm? {
        file.map { file in
            MultipartForm(
                fields: body?.members ?? [], file: file.part,
                name: MultipartForm.fileName(of: file.record, type: content?.type ?? Content.unknownType),
                type: content?.type ?? Content.unknownType, key: idempotencyKey)
        }
    }

    /// The request as people see it, byte for byte; the caller has masked its secrets before.
    package func shown(_ plan: UpstreamPlan, idempotencyKey: String) -> JSONText {
        var request = request(plan, idempotencyKey: idempotencyKey)
        request.add(plan.headers)
        return .object([
            "method": .string(request.method), "path": .string(request.path),
            "headers": .object(members: request.headers.map { (key: $0.name, value: JSONText.string($0.value)) }),
            "body": form(idempotencyKey: idempotencyKey).map { $0.shown(content) } ?? request.body
                ?? request.text.map { .string($0) } ?? .null,
        ])
    }
}

extension PushRequest {
    /// The record in the answer, lifted; nil if it has none.
    package func answered(in body: JSONText) -> JSONText? {
        record.record(in: body, key: key, lift: lift, isInherited: isRecordInherited)
    }
}

extension UpstreamPlan {
    /// What makes an answer have the record's own tag: servers that compress an answer change its tag, and do not know the
    /// changed one when it comes back.
    package var headersForTags: [WireRequest.Header] {
        version == .etag ? [WireRequest.Header("Accept-Encoding", "identity")] : []
    }

    /// The header that carries the version that a change is based on.
    func header(ofVersion text: String) -> WireRequest.Header {
        if case .field(let field) = version {
            WireRequest.Header(field.header, field.sent(text))
        } else {
            WireRequest.Header("If-Match", text)
        }
    }
}
