internal import CacheStore
internal import EntitySchema
internal import JSONText
internal import SocketServer

/// `GET /v1/_activity`: what the daemon has done in the last hours and days, for charts.
extension Handlers {
    func activity() throws -> Response {
        let (minutes, hours) = try store.activity(at: now())
        return .document(.object(["minutes": Self.document(minutes), "hours": Self.document(hours)]))
    }

    /// One list for each figure, with an element for each step, as libraries for charts take them.
    private static func document(_ activity: ActivitySteps) -> JSONText {
        func list(_ figure: (ActivitySteps.Step) -> Int) -> JSONText {
            .array(activity.steps.map { .integer($0.map(figure)) })
        }
        let requests = RequestResult.allCases.map { result in
            (key: result.rawValue, value: list { $0.work.requests[result] ?? 0 })
        }
        return .object([
            "start": .string(activity.start.description), "step_s": .integer(Int(activity.length) * 60),
            "pending": list(\.pending), "failed": list(\.failed), "syncs": list(\.work.syncs),
            "sync_ms": list { Int($0.work.syncTime.milliseconds) },
            "unreachable_s": list { Int(($0.work.unreachable / .seconds(1)).rounded(.up)) },
            "requests": .object(members: requests),
        ])
    }
}
