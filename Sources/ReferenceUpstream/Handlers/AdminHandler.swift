internal import EntitySchema
internal import JSONText
internal import SocketServer

/// The admin paths for tests and demonstrations; they need no token and are exempt from faults and the log.
struct AdminHandler {
    static let prefix = "/__admin/"

    let handler: RequestHandler
    let request: Request
    let now: Timestamp

    func answer(
        _ desk: inout HabitPipeline.Desk, _ faults: inout Faults, _ log: inout RequestLog
    ) -> Answer {
        do throws(Refusal) {
            let steps = request.path.dropFirst(Self.prefix.count).split(separator: "/").compactMap {
                PercentCoding.decode($0)
            }
            switch steps.first {
            case "faults" where steps.count == 1: return try answerFaults(&faults)
            case "habits" where steps.count == 1: return try answerHabits(&desk)
            case "effects" where steps.count == 1: return try answerEffects(desk.store)
            case "log" where steps.count == 1: return try answerLog(&log)
            case "mail" where steps.count == 1: return try answerMail(desk.signIn)
            case "tokens" where steps.count == 1: return try answerTokens(&desk.signIn)
            case "records" where steps.count == 2: return try answerRecords(handler.entity(steps[1]), &desk.store)
            case "records" where steps.count == 3:
                return try answerRecord(handler.entity(steps[1]), key: steps[2], &desk.store)
            default:
                throw .notFound(
                    "such admin path; there are faults, habits, effects, log, mail, tokens and records/{entity}")
            }
        } catch {
            return .refusal(error, handler.envelope)
        }
    }

    private func answerFaults(_ faults: inout Faults) throws(Refusal) -> Answer {
        switch request.method {
        case "GET": break
        case "POST": faults = try Faults(json: body())
        case "DELETE": faults = Faults()
        default: throw .method(request.method, allowed: ["DELETE", "GET", "POST"])
        }
        return .json(200, faults.json)
    }

    private func answerHabits(_ desk: inout HabitPipeline.Desk) throws(Refusal) -> Answer {
        switch request.method {
        case "GET": break
        case "PUT":
            let habits = try Habits(json: body())
            HabitPipeline(handler: handler, now: now).adopt(habits, &desk)
        case "DELETE": HabitPipeline(handler: handler, now: now).adopt(Habits(), &desk)
        default: throw .method(request.method, allowed: ["DELETE", "GET", "PUT"])
        }
        return .json(200, desk.store.habits.json)
    }

    /// How often each habit took effect.
    private func answerEffects(_ store: Store) throws(Refusal) -> Answer {
        guard request.method == "GET" else { throw .method(request.method, allowed: ["GET"]) }
        let counts = store.state.tally.counts
        let members = Habit.allCases.compactMap { habit in
            counts[habit].map { (key: habit.rawValue, value: JSONText.integer($0)) }
        }
        return .json(200, .object(members: members))
    }

    private func answerLog(_ log: inout RequestLog) throws(Refusal) -> Answer {
        switch request.method {
        case "GET": return .lines(log.entries.lazy.map(\.json))
        case "DELETE":
            log.clear()
            return Answer(status: 204)
        default: throw .method(request.method, allowed: ["DELETE", "GET"])
        }
    }

    /// What was mailed to the user.
    private func answerMail(_ signIn: SignIn?) throws(Refusal) -> Answer {
        guard request.method == "GET" else { throw .method(request.method, allowed: ["GET"]) }
        return .lines(signIn?.mails.map(\.json) ?? [])
    }

    /// Lets every access token expire now.
    private func answerTokens(_ signIn: inout SignIn?) throws(Refusal) -> Answer {
        guard request.method == "DELETE" else { throw .method(request.method, allowed: ["DELETE"]) }
        signIn?.expireAccess()
        return Answer(status: 204)
    }

    private func answerRecords(_ entity: Entity, _ store: inout Store) throws(Refusal) -> Answer {
        switch request.method {
        case "GET": return .lines(store.records(of: entity.name) ?? [])
        case "POST": return .json(201, try store.create(body(), in: entity, at: now))
        default: throw .method(request.method, allowed: ["GET", "POST"])
        }
    }

    private func answerRecord(_ entity: Entity, key: String, _ store: inout Store) throws(Refusal) -> Answer {
        switch request.method {
        case "GET":
            guard let record = store.record(entity.name, key: key) else {
                throw .notFound("record \(key) in \(entity.name)")
            }
            return .json(200, record)
        case "PATCH": return .json(200, try store.update(entity, key: key, with: body(), at: now))
        case "DELETE":
            try store.delete(entity, key: key, at: now)
            return Answer(status: 204)
        default: throw .method(request.method, allowed: ["DELETE", "GET", "PATCH"])
        }
    }

    private func body() throws(Refusal) -> JSONText {
        let type = request.headers[single: "Content-Type"]?.prefix { $0 != ";" }
        guard type == nil || type == "application/json" else {
            throw Refusal(status: 415, code: "media_type", message: "the body must be application/json")
        }
        guard let body = try? JSONText(request.body), body.kind == .object else {
            throw .malformed("the body is not JSON; send one JSON object")
        }
        return body
    }
}
