/// A value of the draft and why it is that.
struct Guess<Value: Sendable>: Sendable {
    var value: Value
    /// For the comment beside it; nil where the value speaks for itself.
    var reason: String?

    init(_ value: Value, _ reason: String? = nil) {
        self.value = value
        self.reason = reason
    }
}

extension Guess: Equatable where Value: Equatable {}
