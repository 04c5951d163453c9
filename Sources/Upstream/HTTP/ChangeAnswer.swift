internal import EntitySchema
internal import JSONText

/// Recognises what a 2xx response to a change says.
///
/// A change is acknowledged by one of these:
/// - a record with a key where the schema has one,
/// - a member that says success,
/// - `true` in place of the record, unless the record is new: its key must be shown,
/// - no content at all, unless it may have been lost on the way.
///
/// Anything else may come from a gateway, a sign-in page or a half-dead server, and is unclear.
struct ChangeAnswer {
    let request: PushRequest
    let sent: WireRequest
    let response: HTTPResponse
    let plan: AnswerPlan

    enum Meaning {
        case record(JSONText)
        case accepted(location: String?)
    }

    /// Of an answer with too many combining marks, no record is taken but the key of a new one: they are people's text, and
    /// the change was accepted all the same.
    func meaning() throws(UpstreamError) -> Meaning {
        guard !MarkRun.areShort(inJSON: response.text, upTo: MarkRun.longestUpstream) else { return try stated() }
        var shortened = response
        shortened.body = MarkRun.shortened(inJSON: response.text, upTo: MarkRun.longestUpstream)
        let answer = ChangeAnswer(request: request, sent: sent, response: shortened, plan: plan)
        guard case .record(let record) = try answer.stated() else { return accepted }
        guard request.operation == .create, let key = record[request.key] else { return accepted }
        return .record(.object([request.key: key]))
    }

    private func stated() throws(UpstreamError) -> Meaning {
        if plan.rule(for: response)?.means == .ok { return success }
        guard !response.isBlank else {
            guard [200, 201, 202, 204, 205].contains(response.status) else { throw unclear(nil) }
            guard response.isEndCertain else { throw cut }
            return accepted
        }
        guard let body = try? response.unambiguousJSON else {
            guard response.isMarkup else { throw unclear(nil) }
            throw error(.barred(status: response.status, "\(call) with a web page where JSON belongs"), nil)
        }
        if plan.concernsAccount(body) { throw error(.barred(status: response.status, call), body) }
        let success = plan.saysSuccess(body)
        if success == false, plan.success != nil {
            let words = sent.mayQuote(body) ? ErrorText(plan).words(of: response, body) : ""
            throw UpstreamError.refused(status: response.status, "\(call) that the change was refused\(words)")
                .withoutSecrets(sent.secrets + sent.secrets(in: body))
        }
        let found = request.answered(in: body)
        let isBody = found == request.lift?.lifted(body) ?? body
        let record = isBody && isAnswerToCall(body) ? nil : found
        if let record, success != true, denies(body, record, isBody: isBody) { throw unclear(body) }
        // 202 itself says that the change was accepted and will be applied (RFC 9110, 15.3.3).
        if let record, response.status == 202, success != false, isJob(record) { return accepted }
        // A record may have a field named success; an envelope that denies success has no record.
        if let record, success != false || isBody { return .record(record) }
        if let key = bareKey(in: body), success != false { return .record(key) }
        if success == true || request.operation == .delete && body["deleted"]?.boolean == true { return accepted }
        if saysTrue(body) || isNamedElsewhere(body), success != false { return accepted }
        if success == nil, isAcceptance(body) { return accepted }
        if body.kind == .null || body.isEmptyObject || success == nil && isEmptyOfDeleted(body) { return accepted }
        if hasNoRow(body), success == nil { throw noRow }
        throw unclear(body)
    }

    /// Whether the answer to an edit or a deletion is `true`, or has it in place of the record, `{"result": true}`, or under
    /// the record's key: `[{"7": true, "message": ""}]`.
    private func saysTrue(_ body: JSONText) -> Bool {
        guard request.operation != .create, request.content == nil else { return false }
        if body.boolean == true || request.record.value(in: body)?.boolean == true { return true }
        guard let key = request.recordKey else { return false }
        let only = body.kind == .array && body.elementCount == 1 ? body.elements[0] : body
        return only.kind == .object && only[key]?.boolean == true
    }

    /// Whether an answer without a record, and without the member that says so, says that the change was accepted.
    private func isAcceptance(_ body: JSONText) -> Bool {
        guard plan.errorMessage?.saysError(in: body) != true, body["error"]?.saysError != true else { return false }
        if isAnswerToCall(body), let result = body["result"] { return result.boolean != false }
        return response.status == 202 && body.kind == .object
    }

    /// Whether it is the answer of JSON-RPC: its `id` is the request's, never a record's, and with a `result` it says that
    /// the call succeeded (JSON-RPC 2.0, 5).
    private func isAnswerToCall(_ body: JSONText) -> Bool {
        body.kind == .object && body["jsonrpc"]?.kind == .string
    }

    /// Whether the answer to a deletion has `{}` in place of the record, as Asana's `{"data": {}}`, and no error.
    private func isEmptyOfDeleted(_ body: JSONText) -> Bool {
        guard request.operation == .delete, request.record.value(in: body)?.isEmptyObject == true else { return false }
        return plan.errorMessage?.saysError(in: body) != true
            && !["error", "errors"].contains { body[$0]?.saysError == true }
    }

    /// Whether the list of changed records is empty at the element that the route names, as PostgREST says that there is no
    /// such record, or none that the caller may change.
    private func hasNoRow(_ body: JSONText) -> Bool {
        request.operation != .create && !request.isRecordInherited && request.record.isInEmptyList(in: body)
    }

    /// Whether an answer with a record, or with an envelope whose `id` looks like its key, says an error and shows nothing
    /// that was sent: `[{"id": "7", "success": false, "errors": [{…}]}]`, `{"jsonrpc": "2.0", "id": 1, "error": {…}}`.
    private func denies(_ body: JSONText, _ record: JSONText, isBody: Bool) -> Bool {
        // These may be fields of the record.
        let names = ["error", "errors"].filter { request.body?[$0] == nil }
        let isRefused = isRefusedPart(record)
        guard
            isRefused || !isBody && isInFailure(body)
                || names.contains(where: { body[$0]?.saysError == true || record[$0]?.saysError == true })
        else { return false }
        return request.operation == .delete || !shows(isRefused ? record.without("status") : record)
    }

    /// Whether an object around the record says that the request failed. Then the record may be another one that is in
    /// the way: `{"data": [{"code": "DUPLICATE_DATA", "status": "error", "details": {"id": "7"}}]}`. A status that was
    /// sent is the record's own.
    private func isInFailure(_ body: JSONText) -> Bool {
        request.record.around(in: body).contains { object in
            guard let status = object["status"]?.string, status != request.body?["status"]?.string else { return false }
            return ["error", "fail", "failed", "failure"].contains(status.lowercased())
        }
    }

    /// Whether a 207 says of the change, as of the only part of the request, that it was refused (RFC 4918, 11.1):
    /// `[{"id": "7", "status": 422, "message": "too long"}]`. A status that was sent is the record's own.
    private func isRefusedPart(_ record: JSONText) -> Bool {
        guard response.status == 207, let stated = record["status"], stated != request.body?["status"],
            let status = BatchAnswer.status(stated)
        else { return false }
        return status >= 400
    }

    /// Whether the object in a 202 to an edit is the job that will apply it, not the record: `{"id": "job-77", "state": …}`.
    /// Of a creation, only reading it shows that.
    private func isJob(_ record: JSONText) -> Bool {
        request.operation == .update && request.body?.members.isEmpty == false && !shows(record)
    }

    /// Whether the record has a member that was sent.
    private func shows(_ record: JSONText) -> Bool {
        request.body?.members.contains { $0.key != request.key && record[$0.key] != nil } ?? false
    }

    /// A new record of which the answer has only the key, at the place that the route names: `[7]`.
    private func bareKey(in body: JSONText) -> JSONText? {
        // Of a number that is the whole body, the last digits could be missing.
        guard body.kind != .number || response.isEndCertain else { return nil }
        guard request.operation == .create, !request.isRecordInherited, let found = request.record.value(in: body),
            found.kind == .string || found.kind == .number, !found.plain.isEmpty
        else { return nil }
        let key = request.lift.map { $0.key(found, named: request.key) } ?? found
        return key.map { .object([request.key: $0]) }
    }

    /// Whether the answer to an edit has what was sent, of a record whose key only lists show.
    private func isNamedElsewhere(_ body: JSONText) -> Bool {
        guard request.operation == .update, request.lift?.named != nil, let found = request.record.value(in: body)
        else {
            return false
        }
        return shows(found) && !denies(body, found, isBody: false)
    }

    /// What the schema calls a success: with a record, if one is there.
    private var success: Meaning {
        guard let body = try? response.unambiguousJSON,
            let record = request.answered(in: body) ?? bareKey(in: body)
        else { return accepted }
        return .record(record)
    }

    /// Whether it says nothing, although the status promises content, and no rule says that this is a success.
    var isSilent: Bool {
        guard plan.rule(for: response) == nil else { return false }
        if response.isBlank { return ![204, 205].contains(response.status) }
        return (try? response.unambiguousJSON).map { $0.kind == .null || $0.isEmptyObject } ?? false
    }

    private var accepted: Meaning { .accepted(location: response.filledHeader("Location")) }

    private var call: String { "\(sent.shownCall) answered \(response.status)" }

    private func unclear(_ body: JSONText?) -> UpstreamError {
        error(.unclear(status: response.status, "\(call) without saying that the change was accepted"), body)
    }

    private var noRow: UpstreamError {
        let message = "\(call) with an empty list: no such record, or none that this token may change"
        return UpstreamError.gone(status: response.status, message).withoutSecrets(sent.secrets)
    }

    private var cut: UpstreamError {
        let message = """
            \(call) without content, but could have been cut; let the server, or the proxy before it, answer 204, or send \
            Content-Length without compression
            """
        return UpstreamError.unclear(status: response.status, message).withoutSecrets(sent.secrets)
    }

    /// The error with the beginning of the body.
    private func error(_ error: UpstreamError, _ body: JSONText?) -> UpstreamError {
        error.saying("\(error.message)\(sent.mayQuote(body) ? response.quote() : "")")
            .withoutSecrets(sent.secrets + sent.secrets(in: body))
    }
}

extension JSONText {
    fileprivate var isEmptyObject: Bool { kind == .object && members.isEmpty }
}
