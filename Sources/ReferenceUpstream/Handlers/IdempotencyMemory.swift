internal import EntitySchema

/// The responses to applied writes, by idempotency key.
///
/// A refused write is not kept: it changed nothing, and a corrected one may use the same key.
struct IdempotencyMemory: Sendable {
    struct Content: Equatable, Sendable {
        var method: String
        var path: String
        var body: [UInt8]
    }

    private var answers: [String: (content: Content, answer: Answer, time: Timestamp)] = [:]
    private var keys: [String] = []
    /// At least this many are kept, and at most twice as many.
    private let capacity: Int

    init(capacity: Int) { self.capacity = max(1, capacity) }

    /// The first response when the key was used for the same content; nil when it was not used.
    ///
    /// Throws when it was used for other content.
    func recall(_ key: String, for content: Content) throws(Refusal) -> Answer? {
        guard let known = answers[key] else { return nil }
        guard known.content == content else { throw .keyReused }
        var answer = known.answer
        answer.applied = false
        return answer
    }

    /// Forgets a key that was used before `time`; returns whether it was.
    mutating func forget(_ key: String, before time: Timestamp) -> Bool {
        guard let known = answers[key], known.time < time else { return false }
        answers[key] = nil
        return true
    }

    mutating func remember(_ key: String, for content: Content, _ answer: Answer, at now: Timestamp) {
        answers[key] = (content, answer, now)
        keys.append(key)
        guard keys.count >= 2 * capacity else { return }
        for forgotten in keys.prefix(capacity) { answers[forgotten] = nil }
        keys.removeFirst(capacity)
    }
}
