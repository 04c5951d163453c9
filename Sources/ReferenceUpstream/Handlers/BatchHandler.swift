internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Applies several writes in one request: each element is answered as the request that it stands for.
struct BatchHandler {
    /// A push route whose changes may come in this batch.
    struct Candidate: Sendable {
        var entity: String
        var operation: Operation
        var route: PushRoute
        var element: BatchTemplate
    }

    let handler: RequestHandler
    let request: Request
    let plan: BatchPlan
    let candidates: [Candidate]

    /// One element: the text of it, and its answer.
    private struct Applied {
        var element: JSONText
        var reading = BatchTemplate.Reading()
        var route: PushRoute?
        var answer: Answer
    }

    /// `appliesHalf`: the server breaks down after half of the elements. `write` answers one request.
    func answer(
        _ desk: inout HabitPipeline.Desk, appliesHalf: Bool,
        _ write: (Request, inout HabitPipeline.Desk) -> Answer
    ) throws(Refusal) -> Answer {
        let elements = try elements()
        guard elements.count <= plan.size else {
            throw Refusal(
                status: 413, code: "too_many", message: "a batch has at most \(plan.size) elements; send fewer")
        }
        var trial = desk
        var applied: [Applied] = []
        for element in appliesHalf ? elements.prefix(elements.count / 2) : elements[...] {
            applied.append(self.applied(element, &trial, write))
        }
        let refused = applied.first { $0.answer.status >= 400 }
        if plan.isAtomic, appliesHalf { throw Refusal(status: 500, code: "broken", message: "nothing was applied") }
        if plan.isAtomic || plan.status == nil && plan.error == nil, let refused {
            throw Refusal(
                status: 400, code: "batch_failed",
                message: "nothing was applied, because one element failed: \(message(of: refused.answer))")
        }
        desk = trial
        var answer = Answer.json(200, body(of: applied))
        let texts = applied.filter(\.answer.applied).map(\.element.text)
        answer.applied = !texts.isEmpty
        answer.appliedText = texts.joined(separator: "\n")
        return answer
    }

    private func elements() throws(Refusal) -> [JSONText] {
        guard let body = try? JSONText(request.body) else { throw .malformed("send JSON") }
        guard let list = plan.body.reading(of: body)?.slots[.changes], list.kind == .array else {
            throw .invalid("the body has not the form of a batch")
        }
        return list.elements
    }

    // MARK: One element

    private func applied(
        _ element: JSONText, _ desk: inout HabitPipeline.Desk,
        _ write: (Request, inout HabitPipeline.Desk) -> Answer
    ) -> Applied {
        for candidate in candidates {
            guard let reading = candidate.element.reading(of: element),
                reading.values[.value("operation")].map({ $0.plain == candidate.operation.rawValue }) ?? true,
                let single = single(candidate, reading)
            else { continue }
            return Applied(element: element, reading: reading, route: candidate.route, answer: write(single, &desk))
        }
        return Applied(element: element, answer: .refusal(.invalid("this element is not a change"), handler.envelope))
    }

    /// The request that an element stands for; nil if it is none of this route.
    private func single(_ candidate: Candidate, _ reading: BatchTemplate.Reading) -> Request? {
        let route = candidate.route
        let method = reading.values[.value("method")]?.plain ?? route.method
        let path =
            reading.values[.value("path")]?.plain
            ?? route.path.filled { name in
                let fields = reading.slots[.fields] ?? reading.slots[.body]
                let value = reading.values[.field(name)] ?? fields?[name]
                return value.map { Entity.percentEncoded($0.plain) }
            }
        guard method == route.method, let path, let matches = try? handler.routes.matches(method: method, path: path),
            matches.contains(where: { leads($0.target, to: candidate) })
        else { return nil }
        let body = reading.slots[.body] ?? reading.slots[.fields].flatMap(route.body(around:))
        return Request(
            method: method, path: path, query: nil, headers: headers(route, reading, hasBody: body != nil),
            body: body.map { Array($0.bytes) } ?? [])
    }

    private func leads(_ target: Routes.Target, to candidate: Candidate) -> Bool {
        guard case .push(let name, let operation, let route) = target else { return false }
        return name == candidate.entity && operation == candidate.operation && route == candidate.route
    }

    /// Those of the batch, except what belongs to it as a whole.
    private func headers(_ route: PushRoute, _ reading: BatchTemplate.Reading, hasBody: Bool) -> Headers {
        let upstream = handler.schema.upstream
        let version: String
        if case .field(let field)? = upstream.version { version = field.header } else { version = "If-Match" }
        let keyHeader = upstream.idempotencyHeader?.name
        let own = ["content-type", "content-length", version.lowercased(), keyHeader?.lowercased()]
        var headers = Headers()
        for field in request.headers.fields where !own.contains(field.name.lowercased()) {
            headers.append(name: field.name, value: field.value)
        }
        if hasBody { headers.append(name: "Content-Type", value: route.encoding.mediaType) }
        if let name = keyHeader, let key = reading.values[.value("key")]?.plain {
            headers.append(name: name, value: key)
        }
        if let text = reading.values[.value("version")]?.plain { headers.append(name: version, value: text) }
        return headers
    }

    // MARK: The results

    private func body(of applied: [Applied]) -> JSONText {
        let results = JSONText.array(applied.map(result))
        return plan.results == .itself ? results : Envelope.tree([(Envelope.path(plan.results), results)])
    }

    private func result(_ applied: Applied) -> JSONText {
        var parts: [(path: [Substring], value: JSONText)] = []
        if let status = plan.status { parts.append((Envelope.path(status), .integer(applied.answer.status))) }
        if case .value(let place, let template) = plan.match,
            let mark = template.text({ applied.reading.values[$0] })
        {
            parts.append((Envelope.path(place), .string(mark)))
        }
        let headers = applied.answer.headers.filter { ["Location", "ETag", "Retry-After"].contains($0.name) }
        if !headers.isEmpty {
            parts.append((["headers"], .object(members: headers.map { ($0.name, .string($0.value)) })))
        }
        let body = shown(applied)
        guard plan.answer == .itself else { return Envelope.tree((parts + [(Envelope.path(plan.answer), body)])[...]) }
        return Envelope.tree((body.members.map { ([$0.key[...]], $0.value) } + parts)[...])
    }

    /// The answer to one element, with its record and its error where the batch has them.
    private func shown(_ applied: Applied) -> JSONText {
        let body = (try? JSONText(applied.answer.body)) ?? .null
        if let error = plan.error, applied.answer.status >= 400 {
            return Envelope.tree([(Envelope.path(error), .string(message(of: applied.answer)))])
        }
        guard let place = plan.record, applied.answer.status < 400,
            let record = applied.route?.record.value(in: body)
        else { return body }
        return Envelope.tree([(Envelope.path(place), record)])
    }

    private func message(of answer: Answer) -> String {
        let body = (try? JSONText(answer.body)) ?? .null
        return (handler.schema.upstream.errorMessage?.value(in: body) ?? body["error"])?.plain ?? "failed"
    }
}

extension PushRoute {
    /// The body of a request with these fields.
    fileprivate func body(around fields: JSONText) -> JSONText? {
        encoding.json(envelope?.enclosing(fields) ?? fields)
    }
}
