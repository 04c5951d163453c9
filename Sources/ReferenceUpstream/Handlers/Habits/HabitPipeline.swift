internal import EntitySchema
internal import JSONText
internal import SocketServer

/// Serves one request as an upstream with habits does: a pipeline around the handler of the ideal one.
struct HabitPipeline {
    let handler: RequestHandler
    let now: Timestamp
    /// The server breaks down after half of a batch.
    var appliesHalf = false

    /// Everything that a request may read or change.
    struct Desk: Sendable {
        var store: Store
        var memory: IdempotencyMemory
        var signIn: SignIn?
        var gateway = GatewayState()
    }

    func answer(_ request: Request, _ desk: inout Desk) -> Answer {
        applyAccepted(&desk)
        guard !desk.store.habits.isEmpty else { return batched(request, &desk) ?? ideal(request, &desk) }
        if let answer = SpellAnswers(state: desk.store.state, now: now).answer() { return answer }
        if let answer = kept(request, desk) { return answer }
        let answer = batched(request, &desk) ?? worded(request, &desk)
        keep(answer, of: request, &desk)
        return wired(answer, desk.store)
    }

    /// One request, with errors in the words of the framework.
    private func worded(_ request: Request, _ desk: inout Desk) -> Answer {
        forgetKey(of: request, &desk)
        let answer = served(request, &desk)
        guard let (changed, style) = ErrorHabits(schema: handler.schema, habits: desk.store.habits).changed(answer)
        else { return answer }
        desk.store.note(style)
        return changed
    }

    /// The answer to a batch, each of whose elements is served as a request of its own; nil for any other request.
    private func batched(_ request: Request, _ desk: inout Desk) -> Answer? {
        let matches = try? handler.matches(request)
        guard let matches, case .batch(let plan, let candidates) = matches[0].target else { return nil }
        do throws(Refusal) {
            try handler.authorize(request, desk.signIn, at: now)
            let key = handler.idempotencyKey(of: request)
            let content = IdempotencyMemory.Content(method: request.method, path: request.path, body: request.body)
            if let key, let known = try desk.memory.recall(key, for: content) { return known }
            let batch = BatchHandler(handler: handler, request: request, plan: plan, candidates: candidates)
            let answer = try batch.answer(&desk, appliesHalf: appliesHalf) { request, desk in
                desk.store.habits.isEmpty ? ideal(request, &desk) : worded(request, &desk)
            }
            if let key, !appliesHalf { desk.memory.remember(key, for: content, answer, at: now) }
            return answer
        } catch {
            return .refusal(error, handler.envelope)
        }
    }

    private func ideal(_ request: Request, _ desk: inout Desk) -> Answer {
        handler.answer(request, &desk.store, &desk.memory, &desk.signIn, at: now)
    }

    // MARK: Serving

    private func served(_ request: Request, _ desk: inout Desk) -> Answer {
        let target = (try? handler.matches(request))?.first
        switch target?.target {
        case .record(let name): return record(of: name, request, &desk)
        case .list, .detail, .deletions: return list(request, &desk)
        case .push(let name, let operation, _):
            let key = (handler.schema[name]?.key).flatMap { target?.placeholders[$0] }
            return write(request, key, operation, &desk)
        case .upload, .removal, .content:
            guard isSignedOut(desk) else { return ideal(request, &desk) }
            return .refusal(.notFound("such record"), handler.envelope)
        default: return ideal(request, &desk)
        }
    }

    private func record(of name: String, _ request: Request, _ desk: inout Desk) -> Answer {
        if let status = desk.store.habits.count(.listsOnly) {
            desk.store.note(.listsOnly)
            let refusal: Refusal =
                status == 405 ? .method("GET", allowed: ["DELETE", "PATCH"]) : .notFound("such path")
            return .refusal(refusal, handler.envelope)
        }
        guard !isSignedOut(desk) else { return .refusal(.notFound("record in \(name)"), handler.envelope) }
        return read(request, .laggingRecords, &desk)
    }

    private func list(_ request: Request, _ desk: inout Desk) -> Answer {
        desk.store.state.emptiesLists = isSignedOut(desk) || emptiesOnce(request, &desk)
        defer { desk.store.state.emptiesLists = false }
        return read(request, .laggingLists, &desk)
    }

    /// Reads from a replica that may be behind.
    private func read(_ request: Request, _ lag: Habit, _ desk: inout Desk) -> Answer {
        let fresh = ideal(request, &desk)
        guard desk.store.habits[lag] else { return fresh }
        var replica = desk.store.replica(lag, at: now)
        replica.state.emptiesLists = desk.store.state.emptiesLists
        let answer = handler.answer(request, &replica, &desk.memory, &desk.signIn, at: now)
        if answer.body != fresh.body { desk.store.note(lag) }
        return answer
    }

    private func isSignedOut(_ desk: Desk) -> Bool {
        let isOut = SpellAnswers(state: desk.store.state, now: now).occurrence(of: .signedOut) != nil
        if isOut { desk.store.note(.signedOut) }
        return isOut
    }

    private func emptiesOnce(_ request: Request, _ desk: inout Desk) -> Bool {
        let spell = SpellAnswers(state: desk.store.state, now: now).occurrence(of: .emptyLists)
        guard let spell, desk.gateway.emptied.insert("\(spell) \(request.path)").inserted else { return false }
        desk.store.note(.emptyLists)
        return true
    }

    // MARK: Writing

    private func write(_ request: Request, _ key: String?, _ operation: Operation, _ desk: inout Desk) -> Answer {
        let habits = desk.store.habits
        if isSignedOut(desk) { return .refusal(.notFound("such record"), handler.envelope) }
        if operation != .create, let key, habits[.locked],
            HabitState.concerns("lock \(key)", share: habits.share(.locked))
        {
            desk.store.note(.locked)
            return .refusal(.locked, handler.envelope)
        }
        if let wait = habits.time(.later) { return accept(request, dueAt: now + wait, &desk) }
        let first = ideal(request, &desk)
        guard desk.store.state.chance(of: .repeatedRequests) else { return first }
        desk.store.note(.repeatedRequests)
        var second = ideal(request, &desk)
        second.applied = second.applied || first.applied
        return second
    }

    /// Answers 202 to a write that could be applied now; a repeat under its key is accepted once.
    private func accept(_ request: Request, dueAt due: Timestamp, _ desk: inout Desk) -> Answer {
        let key = handler.idempotencyKey(of: request)
        var accepted = Answer.json(202, .object(["status": "accepted"]))
        if let key, desk.gateway.acceptedKeys.contains(key) { return accepted }
        var trial = desk
        let answer = ideal(request, &trial)
        guard answer.status < 300 else { return answer }
        desk.store.note(.later)
        desk.gateway.accepted.append(GatewayState.Accepted(request: request, due: due))
        if let key { desk.gateway.acceptedKeys.insert(key) }
        accepted.applied = true
        return accepted
    }

    /// Applies what was accepted and is due.
    func applyAccepted(_ desk: inout Desk) {
        while let next = desk.gateway.accepted.first, next.due <= now || !desk.store.habits[.later] {
            desk.gateway.accepted.removeFirst()
            _ = HabitPipeline(handler: handler, now: min(now, next.due)).ideal(next.request, &desk)
        }
    }

    /// Sets other habits, after everything that was accepted under the old ones is applied.
    func adopt(_ habits: Habits, _ desk: inout Desk) {
        desk.store.state.habits.drop(.later)
        applyAccepted(&desk)
        desk.gateway = GatewayState()
        desk.store.adopt(habits, at: now)
    }

    private func forgetKey(of request: Request, _ desk: inout Desk) {
        guard let time = desk.store.habits.time(.forgottenKeys),
            let key = handler.idempotencyKey(of: request),
            desk.memory.forget(key, before: now - time)
        else { return }
        desk.store.note(.forgottenKeys)
    }

    // MARK: On the way

    private func kept(_ request: Request, _ desk: Desk) -> Answer? {
        guard let time = desk.store.habits.time(.cachedAnswers), request.method == "GET",
            let kept = desk.gateway.kept["\(request.path)?\(request.query ?? "")"], now < kept.at + time
        else { return nil }
        desk.store.note(.cachedAnswers)
        var answer = kept.answer
        answer.headers.append(("Age", "\(now.since(kept.at).milliseconds / 1000)"))
        return wired(answer, desk.store)
    }

    private func keep(_ answer: Answer, of request: Request, _ desk: inout Desk) {
        guard desk.store.habits[.cachedAnswers], request.method == "GET", answer.status == 200 else { return }
        desk.gateway.kept["\(request.path)?\(request.query ?? "")"] = GatewayState.Kept(at: now, answer: answer)
    }

    /// The bytes as they leave.
    private func wired(_ answer: Answer, _ store: Store) -> Answer {
        var answer = answer
        let isJSON = answer.headers.contains { $0.name == "Content-Type" && $0.value.hasPrefix("application/json") }
        if store.habits[.byteOrderMark], isJSON {
            store.note(.byteOrderMark)
            answer.body = [0xEF, 0xBB, 0xBF] + answer.body
        }
        if answer.body.count > 1, store.state.chance(of: .cutAnswers) {
            store.note(.cutAnswers)
            answer.ending = .cutOff(length: answer.body.count)
            answer.body.removeLast(answer.body.count / 2)
        }
        return answer
    }
}

extension Refusal {
    static let locked = Refusal(
        status: 409, code: "locked", message: "this record is locked because its invoice was sent")
}
