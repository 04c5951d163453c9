internal import EntitySchema

/// A request that gets an error response and changes nothing.
package struct Refusal: Error, Sendable, Equatable, CustomStringConvertible {
    package var status: Int
    /// For programs: one stable word.
    package var code: String
    /// For people: what is wrong and what to do.
    package var message: String
    /// The methods that the path supports; only with 405.
    package var allowed: [String] = []

    package var description: String { "\(status) \(code): \(message)" }

    static func malformed(_ message: String) -> Refusal {
        Refusal(status: 400, code: "malformed_json", message: message)
    }

    static func invalid(_ message: String) -> Refusal {
        Refusal(status: 400, code: "invalid_value", message: message)
    }

    static func parameter(_ message: String) -> Refusal {
        Refusal(status: 400, code: "invalid_parameter", message: message)
    }

    static func unauthorized(_ place: TokenPlace) -> Refusal {
        Refusal(
            status: 401, code: "unauthorized", message: "the token is missing or wrong; it belongs in \(place.words)")
    }

    static func notSignedIn(_ message: String) -> Refusal {
        Refusal(status: 401, code: "not_signed_in", message: message)
    }

    static func notFound(_ what: String) -> Refusal {
        Refusal(status: 404, code: "not_found", message: "there is no \(what)")
    }

    static func method(_ method: String, allowed: [String]) -> Refusal {
        Refusal(
            status: 405, code: "method_not_allowed",
            message: "\(method) is not supported here; use \(allowed.joined(separator: ", "))", allowed: allowed)
    }

    static func exists(_ entity: String, _ key: String) -> Refusal {
        Refusal(status: 409, code: "exists", message: "\(entity) \(key) exists already; update it instead")
    }

    static let changed = Refusal(
        status: 412, code: "precondition_failed", message: "the record has changed since; fetch it and try again")

    static let keyReused = Refusal(
        status: 422, code: "idempotency_key_reused",
        message: "this idempotency key was used for another request; use a different key for each change")

    static func step(_ field: String, from old: String, to new: String, possible: [String]) -> Refusal {
        let next = possible.isEmpty ? "it is final" : "it may become \(possible.joined(separator: ", "))"
        return Refusal(
            status: 400, code: "INVALID_TRANSITION", message: "\(field) cannot go from \(old) to \(new); \(next)")
    }

    static func unknownReference(_ field: String, _ entity: String, _ key: String) -> Refusal {
        Refusal(
            status: 422, code: "unknown_reference", message: "\(field): there is no record \(key) in \(entity)")
    }
}
