internal import EntitySchema
package import JSONText

extension Faults {
    private static let known: Set<String> = [
        "effect", "status", "retry_after", "duration", "rate", "next", "method", "path",
    ]

    /// Reads `{"faults": [{"effect": "fail", "status": 503, "rate": 0.1}, …]}`, as the admin path takes it.
    package init(json: JSONText) throws(Refusal) {
        guard let rules = json["faults"], rules.kind == .array else {
            throw .invalid(#"faults is missing; expected {"faults": [{"effect": "fail", "status": 503}, …]}"#)
        }
        self.init()
        for rule in rules.elements { self.rules.append(try Self.rule(rule)) }
    }

    private static func rule(_ json: JSONText) throws(Refusal) -> Rule {
        if let name = json.members.map(\.key).first(where: { !known.contains($0) }) {
            throw .invalid("unknown key \(name) in a fault; expected \(known.sorted().joined(separator: ", "))")
        }
        var rule = Rule(try effect(json))
        if let rate = json["rate"] {
            guard rate.kind == .number, let value = Double(rate.text), (0...1).contains(value) else {
                throw .invalid("rate: expected a number from 0 to 1")
            }
            rule.rate = value
        }
        if let next = json["next"], next != .null {
            guard let count = next.integer, count >= 0 else { throw .invalid("next: expected a count of requests") }
            rule.next = count
        }
        rule.method = json["method"]?.string
        rule.path = json["path"]?.string
        return rule
    }

    private static func effect(_ json: JSONText) throws(Refusal) -> Effect {
        switch json["effect"]?.string {
        case "fail":
            guard let status = json["status"]?.integer, (200...599).contains(status) else {
                throw .invalid("status: a fault that fails needs a status from 200 to 599")
            }
            let retryAfter = json["retry_after"].flatMap { $0 == .null ? nil : $0.plain }
            guard retryAfter?.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) ?? true else {
                throw .invalid("retry_after: expected seconds or an HTTP date")
            }
            return .fail(status: status, retryAfter: retryAfter)
        case "latency": return .latency(try duration(json))
        case "hold": return .hold(try duration(json))
        case "cut_body": return .cutBody
        case "cut_batch": return .cutBatch
        case "timeout_after_apply": return .timeoutAfterApply(hold: try duration(json))
        case "offline": return .offline
        default:
            throw .invalid("effect: expected fail, latency, hold, cut_body, cut_batch, timeout_after_apply or offline")
        }
    }

    private static func duration(_ json: JSONText) throws(Refusal) -> Duration {
        guard let duration = json["duration"]?.string.flatMap(Duration.init(text:)) else {
            throw .invalid("duration: expected a time such as 500ms or 30s")
        }
        return duration
    }

    /// What `init(json:)` reads.
    package var json: JSONText {
        .object(["faults": .array(rules.map(\.json))])
    }
}

extension Faults.Rule {
    fileprivate var json: JSONText {
        var members: [(key: String, value: JSONText)] = []
        switch effect {
        case .fail(let status, let retryAfter):
            members = [("effect", "fail"), ("status", .integer(status))]
            if let retryAfter { members.append(("retry_after", .string(retryAfter))) }
        case .latency(let time): members = [("effect", "latency"), ("duration", time.json)]
        case .hold(let time): members = [("effect", "hold"), ("duration", time.json)]
        case .cutBody: members = [("effect", "cut_body")]
        case .cutBatch: members = [("effect", "cut_batch")]
        case .timeoutAfterApply(let hold): members = [("effect", "timeout_after_apply"), ("duration", hold.json)]
        case .offline: members = [("effect", "offline")]
        }
        if rate != 1, let number = try? JSONText(parsing: String(rate)) { members.append(("rate", number)) }
        if let next { members.append(("next", .integer(next))) }
        if let method { members.append(("method", .string(method))) }
        if let path { members.append(("path", .string(path))) }
        return .object(members: members)
    }
}

extension Duration {
    /// As faults and habits are written.
    var json: JSONText { .string("\(milliseconds)ms") }
}
